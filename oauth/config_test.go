package oauth_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

func TestCheckIssuer(t *testing.T) {
	t.Parallel()
	for issuer, good := range map[string]bool{
		"https://auth.example":          true,
		"https://auth.example:8443":     true,
		"http://127.0.0.1:8080":         true,
		"http://localhost:8080":         true,
		"http://[::1]:8080":             true,
		"https://auth.example/":         false,
		"https://auth.example/t":        false,
		"https://Auth.example":          false,
		"HTTPS://auth.example":          false,
		"https://auth.example:443":      false,
		"http://127.0.0.1:80":           false,
		"https://auth.example:":         false,
		"https://auth.example?x=1":      false,
		"https://auth.example?":         false,
		"https://auth.example#":         false,
		"https://user@auth.example":     false,
		"http://auth.example":           false,
		"http://10.0.0.1":               false,
		"http://127.0.0.1.evil.example": false,
		"http://[::ffff:127.0.0.1]":     false,
		"ftp://auth.example":            false,
		"https:auth.example":            false,
		"auth.example":                  false,
		"":                              false,
	} {
		t.Run("MD-2 "+issuer, func(t *testing.T) {
			t.Parallel()
			if err := oauth.CheckIssuer(issuer); (err == nil) != good {
				t.Errorf("error %v, want good = %v", err, good)
			}
		})
	}
}

func TestNewReportsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := oauth.New(oauth.Config{
		Issuer: "http://auth.example", ClientDocuments: true, SigningAlgorithm: "HS256", MaxDynamicClients: -1,
		Resources: []oauth.Resource{{URI: "mcp"}, {URI: "https://h.example/a#b"}},
	}, oauth.Stores{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		"must be https", "HS256", "MaxDynamicClients", "Fetch", "Sealer", "Now", "Rand", `"mcp"`, "fragment", "stores",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not speak of %s: %v", part, err)
		}
	}
}

func TestNewChecksResources(t *testing.T) {
	t.Parallel()
	good := oauth.Resource{URI: "https://h.example/mcp", Scopes: []oauth.Scope{{Name: "read", Baseline: true}}}
	long, negative := 301*time.Second, -time.Second
	for name, change := range map[string]func(*oauth.Resource){
		"RT-9 grace over 300 s":      func(r *oauth.Resource) { r.RefreshGrace = &long },
		"RT-9 negative grace":        func(r *oauth.Resource) { r.RefreshGrace = &negative },
		"AZ-6 scope with a space":    func(r *oauth.Resource) { r.Scopes[0].Name = "a b" },
		"AZ-6 scope with a quote":    func(r *oauth.Resource) { r.Scopes[0].Name = `a"b` },
		"AZ-8 no baseline":           func(r *oauth.Resource) { r.Scopes[0].Baseline = false },
		"scope implies unknown":      func(r *oauth.Resource) { r.Scopes[0].Implies = []string{"x"} },
		"RI-1 relative URI":          func(r *oauth.Resource) { r.URI = "/mcp" },
		"RI-1 fragment":              func(r *oauth.Resource) { r.URI += "#" },
		"negative access token life": func(r *oauth.Resource) { r.AccessTokenLife = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := good
			r.Scopes = []oauth.Scope{good.Scopes[0]}
			cfg := oauth.Config{
				Issuer: issuer, Sealer: oauthtest.NewSealer("k"), Now: time.Now, Rand: io.Reader(strings.NewReader("")),
				Resources: []oauth.Resource{r},
			}
			if _, err := oauth.New(cfg, oauthtest.NewMemory().Stores()); err != nil {
				t.Fatalf("the good one is refused: %v", err)
			}
			change(&cfg.Resources[0])
			if _, err := oauth.New(cfg, oauthtest.NewMemory().Stores()); err == nil {
				t.Error("accepted")
			}
		})
	}
}
