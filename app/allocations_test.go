package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestCallAllocations holds a call to about what it allocated when this was written; what doubles it is found here and
// not by a measurement months later. The test's own request and recorder are counted too.
func TestCallAllocations(t *testing.T) { // not parallel: other tests' allocations would count
	h := inProcess(t, "", time.Now)
	tokens, err := h.client(t).Connect(h.person)
	if err != nil {
		t.Fatal(err)
	}
	handler := h.app.Handler()
	for _, c := range []struct {
		name, body string
		most       float64
	}{
		{"tools/call", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_locations","arguments":{}}}`, 250}, // 170
		{"tools/list", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 210},                                                   // 140
	} {
		call := func() {
			r := httptest.NewRequest(http.MethodPost, h.url+"/mcp", strings.NewReader(c.body))
			r.Header.Set("Authorization", "Bearer "+tokens.AccessToken)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("MCP-Protocol-Version", "2025-06-18")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", c.name, w.Code, w.Body)
			}
		}
		call()
		if n := testing.AllocsPerRun(100, call); n > c.most {
			t.Errorf("%s allocates %.0f times, at most %.0f are allowed", c.name, n, c.most)
		} else {
			t.Logf("%s: %.0f allocations", c.name, n)
		}
	}
}
