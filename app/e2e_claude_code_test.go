package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func claudeBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(appsDir(t), "node_modules", "@anthropic-ai", "claude-code-linux-x64", "claude")
	if _, err := os.Stat(path); err != nil {
		needAll(t, "the binary of Claude Code for this computer")
	}
	if _, err := exec.LookPath("script"); err != nil {
		needAll(t, "the command script, for a terminal")
	}
	return path
}

var claudeQuiet = []string{"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}

// TestAppClaudeCode signs Claude Code in, lists with it and, with a stand-in for the model, lets it call tools.
func TestAppClaudeCode(t *testing.T) {
	t.Parallel()
	claude := claudeBinary(t)
	a := newApp(t)
	claudeConnects(a, claude)
	out := claudePrompt(a, claude, model(t, "add_thing", aThing, 1))
	if !strings.Contains(out, "DONE") || !strings.Contains(out, "Shed") {
		t.Fatalf("add_thing: %s", tail(out))
	}
	if err := disconnectAll(a.person, a.program.URL); err != nil {
		t.Fatal(err)
	}
	if out, err := a.run(append(claudeQuiet, "TERM=xterm-256color"), "script", "-qec", claude+" mcp list", "/dev/null"); strings.Contains(out, "Connected") {
		t.Errorf("connected after the disconnect: %v %s", err, out)
	}
}

// claudeConnects adds the server and signs in; mcp login wants a terminal, which script is.
func claudeConnects(a *anApp, claude string) {
	a.t.Helper()
	terminal := append(claudeQuiet, "TERM=xterm-256color")
	a.wants(nil, terminal, claude, "mcp", "add", "--transport", "http", "home", a.program.URL+"/mcp")
	a.wants([]string{"Authenticated"}, terminal, "script", "-qec", claude+" mcp login home", "/dev/null")
	a.wants([]string{"Connected"}, terminal, "script", "-qec", claude+" mcp list", "/dev/null")
}

// claudePrompt runs one prompt with the model at the address and gives what was printed.
func claudePrompt(a *anApp, claude, modelURL string) string {
	a.t.Helper()
	env := append([]string{"TERM=dumb", "ENABLE_TOOL_SEARCH=false", "ANTHROPIC_BASE_URL=" + modelURL, "ANTHROPIC_API_KEY=dummy"}, claudeQuiet...)
	out, err := a.run(env, claude, "-p", "do it", "--allowedTools", "mcp__home")
	if err != nil {
		a.t.Logf("claude -p: %v", err)
	}
	return out
}

// model stands in for the model: it asks for the tool the given number of times, then repeats what it was told.
func model(t *testing.T, tool, arguments string, calls int) string {
	t.Helper()
	var made atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.HasPrefix(r.URL.Path, "/v1/messages") || strings.Contains(r.URL.Path, "count_tokens") {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"input_tokens":10}`)
			return
		}
		answerAsModel(w, body, "mcp__home__"+tool, arguments, calls, &made)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// modelQuestion is as much of a question to the model as the stand-in reads.
type modelQuestion struct {
	Model    string
	Stream   bool
	Tools    []struct{ Name string }
	Messages []struct{ Content json.RawMessage }
}

// results are the tool results in the question, as JSON.
func (q *modelQuestion) results() []string {
	var out []string
	for _, m := range q.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				out = append(out, string(b.Content))
			}
		}
	}
	return out
}

func answerAsModel(w http.ResponseWriter, body []byte, tool, arguments string, calls int, made *atomic.Int64) {
	var q modelQuestion
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	results, known := q.results(), false
	for _, t := range q.Tools {
		known = known || t.Name == tool
	}
	stop, block, delta := "end_turn", map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": "DONE " + strings.Join(results, "|")}
	if known && len(results) < calls {
		stop = "tool_use"
		block = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", made.Add(1)), "name": tool, "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": arguments}
	}
	usage := map[string]any{"input_tokens": 1, "output_tokens": 1}
	message := map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": q.Model, "content": []any{}, "usage": usage}
	if !q.Stream {
		message["content"], message["stop_reason"] = []any{map[string]any{"type": "text", "text": "ok"}}, "end_turn"
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []map[string]any{
		{"type": "message_start", "message": message},
		{"type": "content_block_start", "index": 0, "content_block": block},
		{"type": "content_block_delta", "index": 0, "delta": delta},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": map[string]any{"stop_reason": stop}, "usage": usage},
		{"type": "message_stop"},
	} {
		b, _ := json.Marshal(e)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], b)
	}
}
