package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gatehouse/app/apptest"
)

// doctored runs the doctor against the program and returns its faults as check/finding.
func doctored(t *testing.T, p *apptest.Program, args ...string) (faults []string, steps int) {
	t.Helper()
	out, runErr := p.Run("", append([]string{"doctor", "--json"}, args...)...)
	var report struct {
		Sections []struct {
			As    string `json:"as"`
			Steps []struct {
				Check   string `json:"check"`
				Finding string `json:"finding"`
			} `json:"steps"`
		} `json:"sections"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v %v: %s", runErr, err, out)
	}
	for _, section := range report.Sections {
		for _, s := range section.Steps {
			steps++
			if s.Finding != "" {
				faults = append(faults, section.As+":"+s.Check+"/"+s.Finding)
			}
		}
	}
	return faults, steps
}

// TestDoctorFindsNothing: hosted apps cannot reach this computer, which is true; nothing else may be found.
func TestDoctorFindsNothing(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t)
	p.AddUser(t, "ada@example.com")
	token, err := p.Run("", "token", "add", "--user", "ada@example.com", "--scope", "write")
	if err != nil {
		t.Fatal(err)
	}
	faults, steps := doctored(t, p, p.URL, "--token", strings.TrimSpace(token))
	if !slices.Equal(faults, []string{"claude:reach/loopback", "chatgpt:reach/loopback"}) || steps < 50 {
		t.Errorf("%d steps, faults %v", steps, faults)
	}
	clients, err := p.Run("", "client", "list")
	if err != nil || strings.Contains(clients, "Claude Code (gatehouse)") { // they were deleted again (RFC 7592)
		t.Errorf("the throw-away clients: %v\n%s", err, clients)
	}
	if faults, _ = doctored(t, p, p.URL+"/mcp", "--as", "codex", "--no-register"); len(faults) > 0 {
		t.Errorf("as the programs on this computer: %v", faults)
	}
}

// TestDoctorFindsAWrongPublicURL is the commonest mistake: the program does not know how it is reached.
func TestDoctorFindsAWrongPublicURL(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_PUBLIC_URL=https://home.example")
	faults, _ := doctored(t, p, "http://"+p.Bound(t), "--no-register", "--as", "codex")
	for _, want := range []string{"all:challenge.post/host_refused", "all:resource.path/wrong_public_url"} {
		if !slices.Contains(faults, want) {
			t.Errorf("want %s, got %v", want, faults)
		}
	}
}

// TestDoctorThroughAProxy puts a proxy with one bad habit at a time before the program.
func TestDoctorThroughAProxy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		habit func(r *http.Request)
		want  []string
	}{
		{"a good one", func(*http.Request) {}, nil},
		{"takes Authorization away", func(r *http.Request) { r.Header.Del("Authorization") }, []string{"all:bearer/stripped"}},
		{"changes Host", func(r *http.Request) { r.Host = "backend:8080" }, []string{"all:challenge.post/host_refused", "all:challenge.get/host_refused",
			"all:challenge.head/host_refused", "all:slash/host_refused", "all:bearer/host_refused", "codex:challenge.discover/host_refused"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var backend atomic.Pointer[string]
			proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
				r.Out.URL.Scheme, r.Out.URL.Host = "http", *backend.Load()
				c.habit(r.Out)
			}})
			t.Cleanup(proxy.Close)
			p := apptest.Start(t, "GATEHOUSE_PUBLIC_URL="+proxy.URL)
			bound := p.Bound(t)
			backend.Store(&bound)
			if faults, _ := doctored(t, p, "--as", "codex"); !slices.Equal(faults, c.want) {
				t.Errorf("faults %v, want %v", faults, c.want)
			}
		})
	}
}

func TestDoctorWithRegistrationOff(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, "GATEHOUSE_DYNAMIC_REGISTRATION=false", "GATEHOUSE_CLIENT_DOCUMENTS=false")
	if faults, _ := doctored(t, p, p.URL, "--as", "codex"); !slices.Equal(faults, []string{"all:server.registration/none"}) {
		t.Errorf("faults %v", faults)
	}
}
