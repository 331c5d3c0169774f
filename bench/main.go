package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"gatehouse/app/apptest"
)

// target is one server under one kind of request.
type target struct {
	name string
	url  string
	pid  int
	body string
	head map[string]string
	// source gives each worker its own requests, for those that can be sent once.
	source source
}

// figures are what one target came to, one entry per round.
type figures struct {
	rate []float64 // requests per second
	cpu  []float64 // microseconds of server CPU per request
}

func main() {
	peerAddress := flag.String("peer", "", "serve as the peer at this address (used by the program itself)")
	rounds := flag.Int("rounds", 5, "rounds per target")
	seconds := flag.Float64("seconds", 2, "seconds per round")
	workers := flag.Int("workers", 8, "requests at a time")
	postgres := flag.String("postgres", "", "also measure on this Postgres database (an empty one)")
	start := flag.Bool("start", false, "measure start, memory and size instead")
	tokens := flag.String("tokens", "", "measure the token endpoint instead, with these numbers of connections: 1000,100000")
	floorAddress := flag.String("floor", "", "serve as the floor at this address (used by the program itself)")
	flag.Parse()
	if *floorAddress != "" {
		fail(serveFloor(*floorAddress, flag.Arg(0)))
		return
	}
	if *tokens != "" {
		fail(compareTokens(*rounds, *workers, time.Duration(*seconds*float64(time.Second)), *tokens, *postgres))
		return
	}
	if *start {
		fail(measureStart(7))
		return
	}
	if *peerAddress != "" {
		fail(servePeer(*peerAddress))
		return
	}
	fail(compare(*rounds, *workers, time.Duration(*seconds*float64(time.Second)), *postgres))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func compare(rounds, workers int, span time.Duration, postgres string) error {
	t := &host{}
	defer t.close()
	var targets []target
	err := t.run(func() {
		targets = append(targets, peer(t)...)
		targets = append(targets, ours(t, "SQLite")...)
		if postgres != "" {
			targets = append(targets, ours(t, "Postgres", "GATEHOUSE_DATABASE_URL="+postgres)...)
		}
	})
	if err != nil {
		return err
	}
	return measure(targets, rounds, workers, span)
}

// measure loads the targets by turns and prints what they came to.
func measure(targets []target, rounds, workers int, span time.Duration) error {
	results := make([]figures, len(targets))
	for _, g := range targets { // one short round each to warm up
		if _, _, err := load(g, workers, span/4); err != nil {
			return err
		}
	}
	for r := range rounds {
		for i, g := range targets {
			rate, cpu, err := load(g, workers, span)
			if err != nil {
				return err
			}
			results[i].rate = append(results[i].rate, rate)
			results[i].cpu = append(results[i].cpu, cpu)
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", r+1, rounds)
	}
	return print(targets, results)
}

// print writes one line per target; ratios are to the peer's target of the same kind, the first of its name.
func print(targets []target, results []figures) error {
	w := tabwriter.NewWriter(os.Stdout, 2, 4, 2, ' ', 0)
	fmt.Fprintln(w, "target\trequests/s\tmin–max\tCPU µs/request\tratio to peer")
	for i, g := range targets {
		base := results[baseOf(targets, i)]
		fmt.Fprintf(w, "%s\t%.0f\t%.0f–%.0f\t%.0f\t%.2f\n", g.name, median(results[i].rate), slices.Min(results[i].rate),
			slices.Max(results[i].rate), median(results[i].cpu), median(results[i].rate)/median(base.rate))
	}
	return w.Flush()
}

// baseOf finds the peer's target with the same kind of request: the word before the first space.
func baseOf(targets []target, i int) int {
	for j, g := range targets {
		if kind(g.name) == kind(targets[i].name) {
			return j
		}
	}
	return i
}

func kind(name string) string {
	for i := range name {
		if name[i] == ' ' {
			return name[:i]
		}
	}
	return name
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// host lets helpers that want a testing.TB be used outside of tests: it keeps the cleanups and turns Fatal into an error.
type host struct {
	testing.TB
	cleanups []func()
	dirs     []string
}

var errStop = errors.New("stop")

func (h *host) run(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if e, ok := p.(error); ok {
				err = e
				return
			}
			panic(p)
		}
	}()
	f()
	return nil
}

// Helper, Cleanup, TempDir, Failed, Log, Logf, Fatal and Fatalf are the parts of testing.TB that the helpers use.
func (h *host) Helper() {}

// Cleanup keeps f for the end.
func (h *host) Cleanup(f func()) { h.cleanups = append(h.cleanups, f) }

// TempDir makes a folder that is removed at the end.
func (h *host) TempDir() string {
	dir, err := os.MkdirTemp("", "gatehouse-bench-")
	if err != nil {
		panic(err)
	}
	h.dirs = append(h.dirs, dir)
	return dir
}

// Failed reports false: a failure ends the run.
func (h *host) Failed() bool { return false }

// Logf drops the line.
func (h *host) Logf(string, ...any) {}

// Fatal ends the run.
func (h *host) Fatal(args ...any) { panic(fmt.Errorf("%w: %s", errStop, fmt.Sprint(args...))) }

// Fatalf ends the run.
func (h *host) Fatalf(format string, args ...any) {
	panic(fmt.Errorf("%w: %s", errStop, fmt.Sprintf(format, args...)))
}

func (h *host) close() {
	for _, f := range slices.Backward(h.cleanups) {
		f()
	}
	for _, d := range h.dirs {
		_ = os.RemoveAll(d)
	}
}

// ours starts the real binary, connects a client through sign-in and consent, and gives the targets.
func ours(t *host, where string, env ...string) []target {
	p := apptest.Start(t, append([]string{"GATEHOUSE_LOG_LEVEL=warn", "GATEHOUSE_READS_PER_MINUTE=100000000"}, env...)...)
	b := p.AddUser(t, "bench@example.com")
	c, err := apptest.RegisterClient(p.URL, "http://127.0.0.1:7781/callback")
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := c.Connect(b)
	if err != nil {
		t.Fatal(err)
	}
	auth := map[string]string{"Authorization": "Bearer " + tokens.AccessToken}
	return requests("Gatehouse, "+where, p.URL+"/mcp", p.PID(), `"list_locations","arguments":{}`, auth)
}

// requests gives the targets of one server: a call and a list, of both eras.
func requests(who, url string, pid int, call string, head map[string]string) []target {
	with := func(more map[string]string) map[string]string {
		out := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
		for _, m := range []map[string]string{head, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	legacy := with(map[string]string{"MCP-Protocol-Version": "2025-06-18"})
	tool := call[1 : 1+slices.Index([]byte(call[1:]), '"')]
	return []target{
		{name: "tools/call/2025-06-18 " + who, url: url, pid: pid, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + call + `}}`, head: legacy},
		{name: "tools/call/2026-07-28 " + who, url: url, pid: pid, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + call + `,` + meta + `}}`,
			head: with(map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})},
		{name: "tools/list/2025-06-18 " + who, url: url, pid: pid, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, head: legacy},
		{name: "tools/list/2026-07-28 " + who, url: url, pid: pid, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`,
			head: with(map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})},
	}
}
