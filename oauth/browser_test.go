package oauth_test

import (
	"context"
	"testing"

	"gatehouse/oauth"
)

func TestBrowsers(t *testing.T) {
	t.Parallel()
	in := func(name string) context.Context { return oauth.WithBrowser(t.Context(), name) }
	allow := oauth.Decision{Allow: true, Scopes: []string{"read"}}
	refused := func(t *testing.T, err error) {
		t.Helper()
		e := shown(t, err, "invalid_request")
		equal(t, "check and status", e.Check == "browser" && e.Status == 400, true)
	}
	t.Run("AZ-11 AZ-17 only the browser that began a request decides it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		r, err := w.BeginAuthorization(in("one"), authorizeForm(publicClient), true)
		must(t, err)
		for _, ctx := range []context.Context{in("two"), t.Context()} {
			_, err = w.ResumeAuthorization(ctx, r.ID, w.person)
			refused(t, err)
			_, err = w.Decide(ctx, r.ID, w.person, allow)
			refused(t, err)
			_, err = w.Decide(ctx, r.ID, w.person, oauth.Decision{})
			refused(t, err)
			_, err = w.ClientOfRequest(ctx, r.ID)
			refused(t, err)
		}
		_, err = w.ResumeAuthorization(in("one"), r.ID, w.person)
		must(t, err)
		c, err := w.ClientOfRequest(in("one"), r.ID)
		must(t, err)
		equal(t, "client", c.ID, publicClient)
		_, err = w.Decide(in("one"), r.ID, w.person, allow)
		must(t, err)
		_, err = w.ResumeAuthorization(in("two"), r.ID, w.person)
		refused(t, err)
	})
	t.Run("AZ-17 two tabs of one browser", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var ids []string
		for range 2 {
			r, err := w.BeginAuthorization(in("one"), authorizeForm(publicClient), true)
			must(t, err)
			ids = append(ids, r.ID)
		}
		for _, id := range ids {
			_, err := w.Decide(in("one"), id, w.person, allow)
			must(t, err)
		}
	})
	t.Run("AZ-17 a request of no browser goes to the first that shows it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		id := w.begin(authorizeForm(publicClient))
		_, err := w.ResumeAuthorization(in("one"), id, oauth.ResourceOwner{})
		must(t, err)
		_, err = w.Decide(in("two"), id, w.person, allow)
		refused(t, err)
		_, err = w.Decide(in("one"), id, w.person, allow)
		must(t, err)
	})
	t.Run("PA-3 AZ-17 a pushed request belongs to the browser that opens it", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		form := reference(publicClient, w.push(publicClient))
		r, err := w.BeginAuthorization(in("one"), form, true)
		must(t, err)
		again, err := w.BeginAuthorization(in("two"), form, true)
		must(t, err)
		equal(t, "the same request", again.ID, r.ID)
		_, err = w.ResumeAuthorization(in("two"), r.ID, w.person)
		refused(t, err)
		_, err = w.ResumeAuthorization(in("one"), r.ID, w.person)
		must(t, err)
	})
}

func TestPushedProofs(t *testing.T) {
	t.Parallel()
	push := func(w *world, proof string, changes ...string) (*oauth.PushedResponse, error) {
		auth := authOf(publicClient)
		auth.Proof = oauth.ProofRequest{Headers: []string{proof}, Method: "POST", URL: issuer + "/par"}
		return w.PushAuthorization(w.t.Context(), authorizeForm(publicClient, changes...), auth)
	}
	t.Run("DP-8 a proof with the push binds the code", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		p := w.prover()
		pushed, err := push(w, p.Proof("POST", issuer+"/par", ""))
		must(t, err)
		code := w.approveWith(reference(publicClient, pushed.RequestURI), oauth.Decision{Allow: true, Scopes: []string{"read"}})
		_, err = w.exchange(publicClient, code)
		shown(t, err, "invalid_grant")
		_, err = w.tokenWith(publicClient, []string{p.Proof("POST", issuer+"/token", "")}, codeForm(code))
		must(t, err)
	})
	t.Run("DP-8 a proof that disagrees with dpop_jkt", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		p := w.prover()
		_, err := push(w, p.Proof("POST", issuer+"/par", ""), "dpop_jkt", w.prover().Thumbprint())
		e := shown(t, err, "invalid_dpop_proof")
		equal(t, "status and check", e.Status == 400 && e.Check == "dpop_jkt", true)
		_, err = push(w, p.Proof("POST", issuer+"/par", ""), "dpop_jkt", p.Thumbprint())
		must(t, err)
		proof := p.Proof("POST", issuer+"/par", "")
		_, err = push(w, proof)
		must(t, err)
		_, err = push(w, proof)
		shown(t, err, "invalid_dpop_proof")
		_, err = push(w, p.Proof("POST", issuer+"/token", ""))
		shown(t, err, "invalid_dpop_proof")
	})
}
