package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gatehouse/app/apptest"
)

// source gives a worker its next form and is told the answer. It says no when it has none left.
type source interface {
	next(worker int) (form string, ok bool)
	answered(worker int, answer []byte) error
}

// codesPerRun are enough for the rates that two cores reach.
const codesPerRun = 60_000

// runSource sends what the source gives. Each request comes from another address, as requests of many people do.
func (g target) runSource(ctx context.Context, client *http.Client, worker int) (int, error) {
	var buf bytes.Buffer
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			return n, nil
		}
		form, ok := g.source.next(worker)
		if !ok {
			return n, fmt.Errorf("no code is left after %d requests of one worker", n)
		}
		req, err := http.NewRequest(http.MethodPost, g.url, strings.NewReader(form))
		if err != nil {
			return n, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-For", fmt.Sprintf("198.18.%d.%d", worker, n%250))
		res, err := client.Do(req)
		if err != nil {
			return n, err
		}
		buf.Reset()
		_, err = io.Copy(&buf, res.Body)
		_ = res.Body.Close()
		if err != nil {
			return n, err
		}
		if res.StatusCode != http.StatusOK {
			return n, fmt.Errorf("answered %d: %.300s", res.StatusCode, buf.Bytes())
		}
		if err := g.source.answered(worker, buf.Bytes()); err != nil {
			return n, err
		}
	}
}

// codes redeems each code once; the refresh tokens begin the chains.
type codes struct {
	secrets []string
	clients []string // the code at i is the client's at i modulo their number
	at      atomic.Int64
	last    [maxWorkers]int
	chains  *chains
}

const maxWorkers = 64

func (c *codes) next(worker int) (string, bool) {
	i := int(c.at.Add(1)) - 1
	if i >= len(c.secrets) {
		return "", false
	}
	c.last[worker] = i
	form := url.Values{"grant_type": {"authorization_code"}, "code": {c.secrets[i]}, "client_id": {c.clients[i%len(c.clients)]},
		"code_verifier": {benchVerifier}, "redirect_uri": {benchRedirect}}
	return form.Encode(), true
}

func (c *codes) answered(worker int, answer []byte) error {
	c.chains.clients[worker] = c.clients[c.last[worker]%len(c.clients)]
	return c.chains.answered(worker, answer)
}

// chains refreshes, each worker along a chain of its own.
type chains struct{ tokens, clients [maxWorkers]string }

func (c *chains) next(worker int) (string, bool) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.tokens[worker]}, "client_id": {c.clients[worker]}}
	return form.Encode(), c.tokens[worker] != ""
}

func (c *chains) answered(worker int, answer []byte) error {
	var t struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := json.Unmarshal(answer, &t); err != nil || t.RefreshToken == "" {
		return fmt.Errorf("no refresh token: %.200s", answer)
	}
	c.tokens[worker] = t.RefreshToken
	return nil
}

// tokenTargets are a code exchange and a refresh at one server. The exchange comes first: it begins the chains.
func tokenTargets(who, address string, pid int, secrets, clients []string) []target {
	c := &chains{}
	return []target{
		{name: "code " + who, url: address, pid: pid, source: &codes{secrets: secrets, clients: clients, chains: c}},
		{name: "refresh " + who, url: address, pid: pid, source: c},
	}
}

const (
	benchRedirect = "http://127.0.0.1:7781/callback"
	benchVerifier = "a-verifier-that-is-the-same-for-every-code-of-the-bench"
	benchClients  = 50
)

func compareTokens(rounds, workers int, span time.Duration, sizes, postgres string) error {
	t := &host{}
	defer t.close()
	var targets []target
	err := t.run(func() {
		for _, where := range []string{"SQLite", "Postgres"} {
			if where == "Postgres" && postgres == "" {
				continue
			}
			targets = append(targets, tokenTargetsOn(t, where, postgres, sizes)...)
		}
	})
	if err != nil {
		return err
	}
	return measure(targets, rounds, min(workers, maxWorkers), span)
}

// tokenTargetsOn starts the floor and one program per size on one kind of database.
func tokenTargetsOn(t *host, where, postgres, sizes string) []target {
	database := func(name string) string {
		if where == "SQLite" {
			return filepath.Join(t.TempDir(), name+".db")
		}
		return newPostgres(t, postgres, "bench_"+name)
	}
	targets := floor(t, where, database("floor"), codesPerRun)
	for _, text := range strings.Split(sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size < benchClients {
			t.Fatalf("%q is no number of connections (at least %d)", text, benchClients)
		}
		fmt.Fprintf(os.Stderr, "filling %s with %d connections\n", where, size)
		targets = append(targets, filled(t, where, database("of_"+text), size)...)
	}
	for i := range targets { // ratios are to the floor of the same database
		targets[i].name = strings.Replace(targets[i].name, " ", "/"+where+" ", 1)
	}
	return targets
}

// filled starts the program on a database, fills it and gives its targets.
func filled(t *host, where, database string, size int) []target {
	dsn := database
	if where == "SQLite" {
		dsn = "sqlite://" + database
	}
	p := apptest.Start(t, "GATEHOUSE_LOG_LEVEL=warn", "GATEHOUSE_READS_PER_MINUTE=100000000", "GATEHOUSE_TRUSTED_PROXIES=127.0.0.1", "GATEHOUSE_DATABASE_URL="+dsn)
	b := p.AddUser(t, "bench@example.com")
	clients := make([]string, benchClients)
	var first *apptest.Client
	for i := range clients {
		c, err := apptest.RegisterClient(p.URL, benchRedirect)
		if err != nil {
			t.Fatal(err)
		}
		if clients[i] = c.ID; first == nil {
			first = c
		}
	}
	tokens, err := first.Connect(b)
	if err != nil {
		t.Fatal(err)
	}
	secrets := newSecrets(codesPerRun)
	fill(t, where, database, size, clients, secrets, p.URL+"/mcp")
	who := fmt.Sprintf("Gatehouse, %d connections", size)
	call := requests(who, p.URL+"/mcp", p.PID(), `"list_locations","arguments":{}`, map[string]string{"Authorization": "Bearer " + tokens.AccessToken})[0]
	call.name = "call " + who
	return append(tokenTargets(who, p.URL+"/token", p.PID(), secrets, clients), call)
}
