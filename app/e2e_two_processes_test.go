package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"gatehouse/app/apptest"
	"gatehouse/db/dbtest"
)

// Two processes on one Postgres do the same thing at once. Whoever is behind a load balancer must not notice.

// twins are two processes of one installation, with a client to each and one that takes turns.
type twins struct {
	url   string
	one   *apptest.Program
	two   *apptest.Program
	each  []*http.Client
	front *http.Client
}

func startTwins(t *testing.T, env ...string) *twins {
	t.Helper()
	address := dbtest.PostgresURL(t)
	env = append([]string{"GATEHOUSE_DATABASE_URL=" + address}, env...)
	one := apptest.Start(t, env...)
	two := apptest.Start(t, append(env, "GATEHOUSE_PUBLIC_URL="+one.URL, "GATEHOUSE_SECRET_KEY_FILE="+one.Dir+"/secret.key")...)
	w := &twins{url: one.URL, one: one, two: two, front: alternate(t, one, two)}
	for _, p := range []*apptest.Program{one, two} {
		address := p.Bound(t)
		transport := &http.Transport{DialContext: dialAlways(address), MaxIdleConnsPerHost: 20}
		t.Cleanup(transport.CloseIdleConnections)
		w.each = append(w.each, &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }})
	}
	return w
}

// outcomes runs f n times at once, by turns through both processes, and counts what it says.
func (w *twins) outcomes(n int, f func(c *http.Client, i int) string) map[string]int {
	counts := map[string]int{}
	var mu sync.Mutex
	inParallel(n, func(i int) {
		said := f(w.each[i%2], i)
		mu.Lock()
		defer mu.Unlock()
		counts[said]++
	})
	return counts
}

func TestTwinsRedeemAndRefreshAtOnce(t *testing.T) {
	t.Parallel()
	w := startTwins(t)
	b := w.one.AddUser(t, "ada@example.com")
	b.Through(w.front)
	c, err := apptest.RegisterClient(w.url, callback)
	if err != nil {
		t.Fatal(err)
	}
	code, err := c.Code(b)
	if err != nil {
		t.Fatal(err)
	}
	var winner *apptest.Tokens
	var mu sync.Mutex
	by := func(h *http.Client) *apptest.Client { twin := *c; twin.HTTP = h; return &twin }
	got := w.outcomes(20, func(h *http.Client, _ int) string {
		status, tokens, err := by(h).Redeem(code)
		if err != nil {
			return err.Error()
		}
		if status == http.StatusOK {
			mu.Lock()
			defer mu.Unlock()
			winner = tokens
		}
		return fmt.Sprint(status, " ", tokens.Error)
	})
	if got["200 "] != 1 || got["400 invalid_grant"] != 19 {
		t.Errorf("CG-1 twenty redemptions over two processes: %v", got)
	}
	if winner == nil {
		t.FailNow()
	}
	tokens := connected(t, by(w.front), b) // the replays ended the first family (CG-2)
	next := map[string]bool{}
	got = w.outcomes(20, func(h *http.Client, _ int) string {
		status, answer, err := by(h).Refresh(tokens.RefreshToken)
		if err != nil {
			return err.Error()
		}
		mu.Lock()
		defer mu.Unlock()
		next[answer.RefreshToken] = true
		return fmt.Sprint(status, " ", answer.Error)
	})
	if got["200 "] != 20 || len(next) != 1 {
		t.Errorf("RT-10 twenty refreshes over two processes: %v, %d successors", got, len(next))
	}
}

func TestTwinsDecideAtOnce(t *testing.T) {
	t.Parallel()
	w := startTwins(t)
	b := w.one.AddUser(t, "ada@example.com")
	b.Through(w.front)
	c, err := apptest.RegisterClient(w.url, callback)
	if err != nil {
		t.Fatal(err)
	}
	mustSignIn(t, b, w.url)
	f := consentForm(t, b, c.AuthorizeURL())
	answers := map[string]bool{}
	var mu sync.Mutex
	inParallel(10, func(int) {
		page, err := b.Post(f.Action, f.Values)
		mu.Lock()
		defer mu.Unlock()
		if err != nil || page.Status != http.StatusSeeOther {
			t.Errorf("CS-5 %v %d", err, page.Status)
			return
		}
		answers[page.Header.Get("Location")] = true
	})
	if len(answers) != 1 {
		t.Errorf("CS-5 ten decisions over two processes: %d answers", len(answers))
	}
}

func TestTwinsRotateKeysAtOnce(t *testing.T) {
	t.Parallel()
	w := startTwins(t)
	b := w.one.AddUser(t, "ada@example.com")
	b.Through(w.front)
	c, err := apptest.RegisterClient(w.url, callback)
	if err != nil {
		t.Fatal(err)
	}
	c.HTTP = w.front
	tokens := connected(t, c, b)
	stop := make(chan struct{})
	var calls sync.WaitGroup
	calls.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if r, err := apptest.CallBy(w.front, w.url, tokens.AccessToken, "ping", ""); err != nil || r.Status != http.StatusOK {
				t.Errorf("KY-3 a call while keys rotate: %v %+v", err, r)
				return
			}
		}
	})
	inParallel(8, func(i int) {
		p := []*apptest.Program{w.one, w.two}[i%2]
		if out, err := p.Run("", "keys", "rotate"); err != nil {
			t.Errorf("KY-3 rotate: %v %s", err, out)
		}
	})
	close(stop)
	calls.Wait()
	var keys []struct{ Algorithm, State string }
	out, err := w.one.Run("", "keys", "list", "--json")
	if err != nil || json.Unmarshal([]byte(out), &keys) != nil {
		t.Fatalf("keys list: %v %s", err, out)
	}
	states := map[string]int{}
	for _, k := range keys {
		states[k.Algorithm+" "+k.State]++
	}
	if states["ES256 active"] != 1 || states["ES256 next"] != 1 {
		t.Errorf("KY-3 after eight rotations at once: %v", states)
	}
	for range 4 { // new tokens of both processes hold at both
		_, next, err := c.Refresh(tokens.RefreshToken)
		if err != nil {
			t.Fatal(err)
		}
		tokens = next
		for _, h := range w.each {
			if r, err := apptest.CallBy(h, w.url, tokens.AccessToken, "ping", ""); err != nil || r.Status != http.StatusOK {
				t.Errorf("KY-3 a token of the new key: %v %+v", err, r)
			}
		}
	}
}

func TestTwinsRegisterAtOnce(t *testing.T) {
	t.Parallel()
	w := startTwins(t)
	ids := map[string]bool{}
	var mu sync.Mutex
	got := w.outcomes(40, func(h *http.Client, i int) string {
		a := sendBy(t, h, http.MethodPost, w.url+"/register", strings.NewReader(fmt.Sprintf(`{"client_name":"App %d","redirect_uris":[%q],"token_endpoint_auth_method":"none"}`, i, callback)),
			"Content-Type: application/json")
		var made struct {
			ID string `json:"client_id"`
		}
		_ = json.Unmarshal([]byte(a.body), &made)
		mu.Lock()
		defer mu.Unlock()
		ids[made.ID] = true
		return fmt.Sprint(a.status)
	})
	if got["201"] != 40 || len(ids) != 40 {
		t.Errorf("DR-1 forty registrations over two processes: %v, %d ids", got, len(ids))
	}
}

// TestTwinsStartAtOnce lets two processes meet an empty database at the same moment.
func TestTwinsStartAtOnce(t *testing.T) {
	t.Parallel()
	address, key := dbtest.PostgresURL(t), "GATEHOUSE_SECRET_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	started := make([]*apptest.Program, 4)
	var wg sync.WaitGroup
	for i := range started {
		wg.Go(func() { started[i] = apptest.Start(t, "GATEHOUSE_DATABASE_URL="+address, key) })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	var keys []struct{ Algorithm, State string }
	out, err := started[0].Run("", "keys", "list", "--json")
	if err != nil || json.Unmarshal([]byte(out), &keys) != nil {
		t.Fatalf("keys list: %v %s", err, out)
	}
	active := 0
	for _, k := range keys {
		if k.State == "active" {
			active++
		}
	}
	if active != 1 {
		t.Errorf("KY-3 four first starts made %d active keys: %s", active, out)
	}
}
