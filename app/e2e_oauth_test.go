package app_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

const callback = "http://127.0.0.1:7780/callback"

// onBoth runs f against the real binary on SQLite and on Postgres.
func onBoth(t *testing.T, f func(t *testing.T, p *apptest.Program)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, apptest.Start(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		f(t, apptest.Start(t, "GATEHOUSE_DATABASE_URL="+dbtest.PostgresURL(t)))
	})
}

func registered(t *testing.T, p *apptest.Program) *apptest.Client {
	t.Helper()
	c, err := apptest.RegisterClient(p.URL, callback)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func connected(t *testing.T, c *apptest.Client, b *apptest.Browser) *apptest.Tokens {
	t.Helper()
	tokens, err := c.Connect(b)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestCodeRedeemedOnceUnderRace(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := registered(t, p)
		code, err := c.Code(b)
		if err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		var mu sync.Mutex
		inParallel(20, func(int) {
			status, answer, err := c.Redeem(code)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			count[fmt.Sprint(status, answer.Error)]++
		})
		if count["200"] != 1 || count["400invalid_grant"]+count["400 invalid_grant"] != 19 {
			t.Errorf("CG-1 twenty redemptions of one code came to %v; want one 200 and nineteen invalid_grant", count)
		}
	})
}

func TestParallelRefreshes(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		c := registered(t, p)
		tokens := connected(t, c, p.AddUser(t, "ada@example.com"))
		successors := make([]string, 10)
		inParallel(10, func(i int) {
			status, answer, err := c.Refresh(tokens.RefreshToken)
			if err != nil || status != http.StatusOK {
				t.Errorf("RT-10 refresh %d: %d %v %+v", i, status, err, answer)
				return
			}
			successors[i] = answer.RefreshToken
			if r, err := apptest.Call(p.URL, answer.AccessToken, "ping", ""); err != nil || r.Status != http.StatusOK {
				t.Errorf("the access token of refresh %d does not work: %v %+v", i, err, r)
			}
		})
		for _, s := range successors {
			if s != successors[0] || s == tokens.RefreshToken {
				t.Fatalf("RT-9 ten refreshes gave different successors")
			}
		}
	})
}

func TestRefreshLostAnswerAndReplay(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		c := registered(t, p)
		tokens := connected(t, c, p.AddUser(t, "ada@example.com"))
		refresh := func(what, token string) *apptest.Tokens {
			t.Helper()
			status, answer, err := c.Refresh(token)
			if err != nil || status != http.StatusOK {
				t.Fatalf("%s: %d %v %+v", what, status, err, answer)
			}
			return answer
		}
		lost := refresh("first refresh", tokens.RefreshToken) // imagine that this answer never arrived
		again := refresh("RT-9 the same token again", tokens.RefreshToken)
		if lost.RefreshToken != again.RefreshToken {
			t.Error("RT-9 a lost answer gives another successor the second time")
		}
		third := refresh("the successor", again.RefreshToken)
		status, answer, err := c.Refresh(tokens.RefreshToken) // the grandparent: reuse
		if err != nil || status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("RT-3 replay of an older token: %d %v %+v", status, err, answer)
		}
		if status, answer, _ := c.Refresh(third.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("RT-3 the family goes on after a reuse: %d %+v", status, answer)
		}
		if r, err := apptest.Call(p.URL, third.AccessToken, "ping", ""); err != nil || r.Status != http.StatusUnauthorized {
			t.Errorf("RT-3 the family's access token still works: %v %+v", err, r)
		}
	})
}

func TestDisconnectHoldsFromTheNextCall(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := registered(t, p)
		tokens := connected(t, c, b)
		if r, err := apptest.Call(p.URL, tokens.AccessToken, "tools/list", ""); err != nil || r.Status != http.StatusOK {
			t.Fatalf("before: %v %+v", err, r)
		}
		if err := disconnectAll(b, p.URL); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		r, err := apptest.Call(p.URL, tokens.AccessToken, "tools/list", "")
		if err != nil || r.Status != http.StatusUnauthorized {
			t.Fatalf("after Disconnect: %v %+v", err, r)
		}
		if h := r.Header.Get("WWW-Authenticate"); !strings.HasPrefix(h, "Bearer ") || !strings.Contains(h, `error="invalid_token"`) {
			t.Errorf("BR-2 challenge %q", h)
		}
		t.Logf("the first call after Disconnect was refused, %s after it was sent; the token itself had %d s left", time.Since(start).Round(10*time.Microsecond), tokens.ExpiresIn)
		if status, answer, _ := c.Refresh(tokens.RefreshToken); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("RT-7 refresh after Disconnect: %d %+v", status, answer)
		}
	})
}

func TestRevocationEndsTheConnection(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		c := registered(t, p)
		tokens := connected(t, c, p.AddUser(t, "ada@example.com"))
		other := registered(t, p)
		for _, who := range []*apptest.Client{other, c} {
			res, err := http.PostForm(p.URL+"/revoke", url.Values{"token": {tokens.RefreshToken}, "client_id": {who.ID}})
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			r, err := apptest.Call(p.URL, tokens.AccessToken, "ping", "")
			if err != nil {
				t.Fatal(err)
			}
			if who == other && r.Status != http.StatusOK {
				t.Errorf("RV-2 another client's revocation took effect: %d", r.Status)
			}
			if who == c && (res.StatusCode != http.StatusOK || r.Status != http.StatusUnauthorized) {
				t.Errorf("RV-1 revocation: %d, then /mcp %d", res.StatusCode, r.Status)
			}
		}
	})
}

func TestWrongExchangesDoNotBurnTheCode(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, p *apptest.Program) {
		b := p.AddUser(t, "ada@example.com")
		c := registered(t, p)
		code, err := c.Code(b)
		if err != nil {
			t.Fatal(err)
		}
		good := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {c.Verifier}}
		for _, tc := range []struct {
			name, field, value, want string
			status                   int
		}{
			{"CN-61 wrong verifier", "code_verifier", strings.Repeat("x", 43), "invalid_grant", 400},
			{"CG-4 wrong redirect URI", "redirect_uri", callback + "2", "invalid_grant", 400},
			{"CG-3 another client", "client_id", registered(t, p).ID, "invalid_grant", 400},
			{"TK-4 unknown client", "client_id", "gc_unknown", "invalid_client", 401},
			{"RI-2 another resource", "resource", "https://elsewhere.example/mcp", "invalid_target", 400},
			{"PK-4 no verifier", "code_verifier", "", "invalid_request", 400},
			{"TK-9 password grant", "grant_type", "password", "unsupported_grant_type", 400},
		} {
			form := url.Values{}
			for k, v := range good {
				form[k] = v
			}
			form.Set(tc.field, tc.value)
			status, answer, err := c.Token(form)
			if err != nil || status != tc.status || answer.Error != tc.want {
				t.Errorf("%s: %d %v %+v; want %d %s", tc.name, status, err, answer, tc.status, tc.want)
			}
		}
		status, answer, err := c.Redeem(code)
		if err != nil || status != http.StatusOK {
			t.Fatalf("CN-61 the right exchange after wrong ones: %d %v %+v", status, err, answer)
		}
		if status, replay, _ := c.Redeem(code); status != http.StatusBadRequest || replay.Error != "invalid_grant" {
			t.Errorf("CG-2 replay: %d %+v", status, replay)
		}
		if r, err := apptest.Call(p.URL, answer.AccessToken, "ping", ""); err != nil || r.Status != http.StatusUnauthorized {
			t.Errorf("CG-2 a correct replay leaves the code's tokens alive: %v %+v", err, r)
		}
	})
}

func TestTwoProcessesOnOnePostgres(t *testing.T) {
	t.Parallel()
	address := dbtest.PostgresURL(t)
	first := apptest.Start(t, "GATEHOUSE_DATABASE_URL="+address)
	// The second process shares data folder (for the key) and public URL, as behind a load balancer.
	second := apptest.Start(t, "GATEHOUSE_DATABASE_URL="+address, "GATEHOUSE_PUBLIC_URL="+first.URL, "GATEHOUSE_SECRET_KEY_FILE="+first.Dir+"/secret.key",
		"GATEHOUSE_LISTEN=127.0.0.1:0")
	front := alternate(t, first, second)
	b := first.AddUser(t, "ada@example.com")
	b.Through(front)
	c, err := apptest.RegisterClient(first.URL, callback)
	if err != nil {
		t.Fatal(err)
	}
	c.HTTP = front
	tokens := connected(t, c, b)
	for range 6 {
		if text, isError, err := apptest.CallToolBy(front, first.URL, tokens.AccessToken, "add_thing", `{"items":[{"name":"Lamp"}]}`); err != nil || isError {
			t.Fatalf("add_thing: %v %s", err, text)
		}
		status, next, err := c.Refresh(tokens.RefreshToken)
		if err != nil || status != http.StatusOK {
			t.Fatalf("refresh: %d %v %+v", status, err, next)
		}
		tokens = next
	}
	if err := disconnectAll(b, first.URL); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := apptest.CallBy(front, first.URL, tokens.AccessToken, "ping", ""); err != nil || r.Status != http.StatusUnauthorized {
			t.Errorf("after Disconnect: %v %+v", err, r)
		}
	}
}

// alternate is a client whose requests for the first program's URL go to the two programs by turns, as through a load
// balancer without stickiness.
func alternate(t *testing.T, first, second *apptest.Program) *http.Client {
	t.Helper()
	hosts := [2]string{strings.TrimPrefix(first.URL, "http://"), second.Bound(t)}
	var n atomic.Int64
	dialer := &net.Dialer{}
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == hosts[0] {
				address = hosts[n.Add(1)%2]
			}
			return dialer.DialContext(ctx, network, address)
		},
	}}
}

// inParallel runs f n times at once.
func inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-start; f(i) })
	}
	close(start)
	wg.Wait()
}
