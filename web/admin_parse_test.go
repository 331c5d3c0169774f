package web

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
)

func FuzzNewClientForm(f *testing.F) {
	for _, s := range []string{"", "name=Robot&redirect_uris=https%3A%2F%2Fr.example%2Fcb%0Ahttp%3A%2F%2Flocalhost%2F&proof=secret", "proof=jwks&jwks=%7B%22keys%22%3A%5B%5D%7D",
		"proof=jwks&jwks=%7B", "proof=jwks_uri&jwks_uri=x", "contacts=a%0D%0A%0D%0Ab", "proof=none&jwks_uri=x&jwks=%7B%7D"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values, err := parseParameters(s)
		if err != nil {
			return
		}
		form := parseNewClient(values)
		n, problem := form.entry(t.Context())
		if problem != "" {
			return
		}
		if n.JWKS != nil && !json.Valid(n.JWKS) || n.Confidential && (n.JWKS != nil || n.JWKSURI != "") || n.JWKS != nil && n.JWKSURI != "" {
			t.Errorf("%q gives a client with more than one proof: %+v", s, n)
		}
		for _, uri := range n.RedirectURIs {
			if uri == "" || strings.ContainsAny(uri, " \r\n\t") {
				t.Errorf("%q gives the redirect URI %q", s, uri)
			}
		}
	})
}

func FuzzAuditQuery(f *testing.F) {
	for _, s := range []string{"", "person=a%40b&action=client&from=2026-01-31&until=2026-02-30", "before=0195c1a2-0000-7000-8000-000000000001", "from=0000-01-01", "before=%27"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values, err := url.ParseQuery(s)
		if err != nil {
			return
		}
		q := parseAuditQuery(values)
		for _, day := range []string{q.from, q.until} {
			if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
				t.Errorf("%q gives the day %q", s, day)
			}
		}
		u, err := url.Parse(string(q.older("0195c1a2-0000-7000-8000-000000000001")))
		if err != nil || u.Path != adminAuditPath || parseAuditQuery(u.Query()).person != q.person {
			t.Errorf("%q goes on at %v", s, u)
		}
	})
}

func FuzzDocumentHost(f *testing.F) {
	for _, s := range []string{"", "https://app.example/x", "http://app.example/x", "https://éxample/x", "https://a\u202eb/x", "https://", "gc_1", "https://[::1]:8/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host := documentHost(s)
		if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) || host != "" && !strings.HasPrefix(strings.ToLower(s), "https://") {
			t.Errorf("oauth.md §7 the host of %q is %q", s, host)
		}
	})
}
