package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func codexBinary(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(appsDir(t), "node_modules", "@openai", "codex-linux-*", "vendor", "*", "bin", "codex"))
	if len(found) == 0 {
		found, _ = filepath.Glob(filepath.Join(appsDir(t), "node_modules", "@openai", "codex-linux-*", "vendor", "*", "codex", "codex"))
	}
	if len(found) == 0 {
		needAll(t, "the binary of Codex for this computer")
	}
	return found[0]
}

// TestAppCodex lets Codex find the sign-in, connect and, through its app server, list and call, in both eras.
func TestAppCodex(t *testing.T) {
	t.Parallel()
	codex := codexBinary(t)
	a := newApp(t)
	codexConnects(a, codex)
	for _, flags := range [][]string{nil, {"--enable", "mcp_2026_07_28"}} {
		t.Run(strings.Join(append([]string{"flags"}, flags...), " "), func(t *testing.T) {
			s := startCodex(a, codex, flags...)
			status := s.call("mcpServerStatus/list", map[string]any{"detail": "full"})
			if !strings.Contains(status, `"add_thing"`) || !strings.Contains(status, `"oAuth"`) {
				t.Fatalf("status: %s", status)
			}
			if got := s.tool("add_thing", aThing); !strings.Contains(got, "Shed") {
				t.Errorf("add_thing: %s", got)
			}
		})
	}
}

func codexConnects(a *anApp, codex string) {
	a.t.Helper()
	if err := os.MkdirAll(filepath.Join(a.home, ".codex"), 0o755); err != nil {
		a.t.Fatal(err)
	}
	a.wants([]string{"Successfully logged in"}, nil, codex, "mcp", "add", "home", "--url", a.program.URL+"/mcp")
}

// codexSession is a running app server of Codex.
type codexSession struct {
	a       *anApp
	in      io.Writer
	answers chan map[string]json.RawMessage
	id      int
	thread  string
}

func startCodex(a *anApp, codex string, flags ...string) *codexSession {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	cmd := a.command(ctx, nil, codex, append(flags, "app-server")...)
	in, err := cmd.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	s := &codexSession{a: a, in: in, answers: make(chan map[string]json.RawMessage, 100)}
	go func() {
		defer close(s.answers)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			var m map[string]json.RawMessage
			if json.Unmarshal(line, &m) == nil && m["id"] != nil && m["method"] == nil {
				s.answers <- m
			}
			if err != nil {
				return
			}
		}
	}()
	s.call("initialize", map[string]any{"clientInfo": map[string]any{"name": "probe", "title": "probe", "version": "1"}})
	s.send(map[string]any{"method": "initialized"})
	return s
}

func (s *codexSession) send(m map[string]any) {
	s.a.t.Helper()
	b, _ := json.Marshal(m)
	if _, err := s.in.Write(append(b, '\n')); err != nil {
		s.a.t.Fatal(err)
	}
}

// call sends a request to the app server and gives the answer's JSON.
func (s *codexSession) call(method string, params any) string {
	s.a.t.Helper()
	s.id++
	s.send(map[string]any{"id": s.id, "method": method, "params": params})
	for {
		select {
		case m, open := <-s.answers:
			if !open {
				s.a.t.Fatalf("%s: the app server ended", method)
			}
			if string(m["id"]) == fmt.Sprint(s.id) {
				b, _ := json.Marshal(m)
				return string(b)
			}
		case <-time.After(60 * time.Second):
			s.a.t.Fatalf("%s: no answer", method)
		}
	}
}

// tool calls a tool of our server in a thread of its own.
func (s *codexSession) tool(name, arguments string) string {
	s.a.t.Helper()
	if s.thread == "" {
		var answer struct {
			Result struct{ Thread struct{ ID string } }
		}
		text := s.call("thread/start", map[string]any{"cwd": filepath.Join(s.a.home, "work")})
		if json.Unmarshal([]byte(text), &answer) != nil || answer.Result.Thread.ID == "" {
			s.a.t.Fatalf("thread/start: %s", text)
		}
		s.thread = answer.Result.Thread.ID
	}
	return s.call("mcpServer/tool/call", map[string]any{"threadId": s.thread, "server": "home", "tool": name, "arguments": json.RawMessage(arguments)})
}
