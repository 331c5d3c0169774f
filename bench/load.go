package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// load sends the target's request from several workers for the span. Every answer must be a 200 without an error.
func load(g target, workers int, span time.Duration) (rate, cpuMicros float64, err error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers, DisableCompression: true}}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), span)
	defer cancel()
	before, err := cpuTime(g.pid)
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	counts := make([]int, workers)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { counts[i], errs[i] = g.run(ctx, client, i) })
	}
	wg.Wait()
	took := time.Since(start)
	after, err := cpuTime(g.pid)
	if err != nil {
		return 0, 0, err
	}
	n := 0
	for i := range counts {
		if errs[i] != nil {
			return 0, 0, fmt.Errorf("%s: %w", g.name, errs[i])
		}
		n += counts[i]
	}
	return float64(n) / took.Seconds(), float64((after - before).Microseconds()) / float64(max(n, 1)), nil
}

// run sends the target's request until the context ends: the same one again and again, or what its source gives.
func (g target) run(ctx context.Context, client *http.Client, worker int) (int, error) {
	if g.source != nil {
		return g.runSource(ctx, client, worker)
	}
	return repeat(ctx, client, g)
}

func repeat(ctx context.Context, client *http.Client, g target) (int, error) {
	var buf bytes.Buffer
	for n := 0; ; n++ {
		if ctx.Err() != nil {
			return n, nil
		}
		req, err := http.NewRequest(http.MethodPost, g.url, strings.NewReader(g.body))
		if err != nil {
			return n, err
		}
		for k, v := range g.head {
			req.Header.Set(k, v)
		}
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
		if res.StatusCode != http.StatusOK || !bytes.Contains(buf.Bytes(), []byte(`"result"`)) || bytes.Contains(buf.Bytes(), []byte(`"isError":true`)) {
			return n, fmt.Errorf("answered %d: %.300s", res.StatusCode, buf.Bytes())
		}
	}
}

// cpuTime is the CPU time that a process has used, in user and kernel mode.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// Fields are counted from after the command's name, which may hold spaces.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	const ticks = 100 // per second, on every Linux that Go runs on
	return time.Duration(user+system) * time.Second / ticks, nil
}
