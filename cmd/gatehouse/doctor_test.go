package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// broken is a server that answers every path with a page.
func broken(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>Welcome\x1b[31m</title>"))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestDoctorExitStatus(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), broken(t)
	for _, c := range []struct {
		name   string
		args   []string
		status int
		text   string
	}{
		{"something would fail", []string{"doctor", url}, 1, "challenge.post/html"},
		{"the default is the public URL", []string{"doctor", "--public-url", url}, 1, url + "/mcp"},
		{"nobody listens", []string{"doctor", "http://127.0.0.1:1"}, 1, "challenge.post/no_answer"},
		{"a URL that is none", []string{"doctor", "home"}, 2, "not a URL"},
		{"a public URL that is none", []string{"doctor", "--public-url", "home"}, 2, "GATEHOUSE_PUBLIC_URL"},
		{"an unknown app", []string{"doctor", url, "--as", "gopher"}, 2, "--as must be one of"},
		{"one app", []string{"doctor", url, "--as", "chatgpt", "--no-register"}, 1, "ChatGPT"},
		{"help", []string{"doctor", "--help"}, 0, "--[no-]register"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			status, out, errOut := gatehouse(t, dir, "", c.args...)
			if status != c.status || !strings.Contains(out+errOut, c.text) {
				t.Errorf("status %d, want %d with %q:\n%s%s", status, c.status, c.text, out, errOut)
			}
			if strings.Contains(out+errOut, "\x1b") {
				t.Error("the server's control characters reach the terminal")
			}
		})
	}
	t.Cleanup(func() {
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("the doctor wrote into the data folder: %v %v", files, err)
		}
	})
}

func TestDoctorJSON(t *testing.T) {
	t.Parallel()
	const secret = "gth_a-token-that-must-not-be-printed"
	url := broken(t)
	status, out, errOut := gatehouse(t, t.TempDir(), "", "doctor", url, "--json", "--token", secret)
	var report struct {
		URL      string `json:"url"`
		Failed   int    `json:"failed"`
		Sections []struct {
			As    string `json:"as"`
			Steps []struct {
				Check, Status, Finding, Title, Detail, Mend string
			} `json:"steps"`
		} `json:"sections"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != 1 {
		t.Fatalf("status %d, %v: %s", status, err, out)
	}
	if report.URL != url+"/mcp" || report.Failed == 0 || len(report.Sections) < 4 || strings.Contains(out+errOut, secret) {
		t.Errorf("report %s%s", out, errOut)
	}
	first := report.Sections[0].Steps[1]
	if first.Check != "challenge.post" || first.Status != "failed" || first.Finding != "html" || first.Detail == "" || first.Mend == "" {
		t.Errorf("step %+v", first)
	}
}

func TestDoctorSaysEachRemedyOnce(t *testing.T) {
	t.Parallel()
	_, out, _ := gatehouse(t, t.TempDir(), "", "doctor", broken(t))
	said := map[string]bool{}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "    → ") {
			if said[line] {
				t.Errorf("twice: %s", line)
			}
			said[line] = true
		}
	}
	if len(said) < 2 {
		t.Errorf("no advice in:\n%s", out)
	}
}
