package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// documentClient walks on with the app's client document, where the app would use it.
func (w *walk) documentClient(ctx context.Context, a app) {
	title := a.name + " by its client document"
	switch {
	case !w.server.ClientDocuments:
		return // said with the ways to register
	case !slices.Contains(w.server.AuthMethods, "none"):
		w.note("document", title, "left out: apps use it only where none is among the methods")
	case a.withIss && !w.server.SendsIssuer:
		w.note("document", title, "left out: without iss the app uses a document of its own for each connector")
	default:
		w.authorize(ctx, a, a.document, "authorize.document", title)
	}
}

// registeredClient registers a throw-away client with the app's body and walks on with it.
func (w *walk) registeredClient(ctx context.Context, a app) {
	title := a.name + " registers"
	switch {
	case w.server.RegistrationEndpoint == "":
		return // said with the ways to register
	case !w.o.Register:
		w.note("register", title, "left out, as asked; with it the sign-in page and the errors for a known app")
		return
	}
	answer := w.send(ctx, request{method: http.MethodPost, url: w.server.RegistrationEndpoint, body: w.registration(a), agent: a.agent,
		header: []string{"Content-Type", "application/json", "Accept", "application/json"}})
	r, p := judgeRegistered(answer, a)
	detail := "as throw-away client " + r.ClientID + "; never used, so Gatehouse forgets it by itself after 72 hours"
	w.judge("register", title, detail, p)
	if r.ClientID == "" {
		return
	}
	w.authorize(ctx, a, r.ClientID, "authorize.registered", a.name+" opens the sign-in page")
	w.wrongRedirect(ctx, a, r.ClientID)
	w.deadGrants(ctx, a, r.ClientID)
	w.forget(ctx, r)
}

// registered is the answer to a registration (RFC 7591 §3.2.1), as far as apps read it.
type registered struct {
	ClientID     string   `json:"client_id"`
	Secret       string   `json:"client_secret"`
	Method       string   `json:"token_endpoint_auth_method"`
	RedirectURIs []string `json:"redirect_uris"`
	ManagedAt    string   `json:"registration_client_uri"`
	Management   string   `json:"registration_access_token"`
}

// judgeRegistered judges the answer by what apps' parsers stumble over.
func judgeRegistered(a *answer, who app) (registered, *problem) {
	var r registered
	if p := a.transport(); p != nil {
		return r, p
	}
	if a.status != http.StatusCreated && a.status != http.StatusOK {
		if _, p := a.oauthError(); p != nil {
			return r, p
		}
		return r, &problem{finding: "refused", detail: a.seen(), mend: "The registration that " + who.name + " sends must be accepted. Look for a limit, an allow-list of redirect URIs or a needed token."}
	}
	if p := a.object(&r); p != nil {
		return registered{}, p
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &members); err != nil {
		return registered{}, &problem{finding: "not_json", detail: err.Error(), mend: "Answer with one JSON object."}
	}
	return r, judgeMembers(r, members, who)
}

func judgeMembers(r registered, members map[string]json.RawMessage, who app) *problem {
	if r.ClientID == "" {
		return &problem{finding: "no_client_id", detail: "the answer lacks client_id", mend: "Return client_id (RFC 7591 §3.2.1)."}
	}
	for _, name := range []string{"redirect_uris", "grant_types", "response_types"} {
		if !bytes.HasPrefix(bytes.TrimSpace(members[name]), []byte("[")) {
			return &problem{finding: "incomplete", detail: "the answer lacks the array " + name, mend: "Return everything as stored (RFC 7591 §3.2.1): apps crash without it."}
		}
	}
	var nulls []string
	for name, value := range members {
		if string(value) == "null" {
			nulls = append(nulls, name)
		}
	}
	slices.Sort(nulls)
	switch {
	case len(nulls) > 0:
		return &problem{finding: "null", detail: "null for " + strings.Join(nulls, ", "), mend: "Leave out what has no value: the TypeScript SDK refuses null."}
	case !slices.Contains(r.RedirectURIs, who.redirect):
		return &problem{finding: "redirect_changed", detail: "redirect_uris does not hold " + who.redirect, mend: "Register the redirect URI exactly as sent."}
	case r.Method != "none" || r.Secret != "":
		return &problem{finding: "secret", mild: true, detail: fmt.Sprintf("asked for none, got %s, secret: %t", orNothing(r.Method), r.Secret != ""),
			mend: "Register the method none as asked, without a secret: some apps send Basic as soon as there is one."}
	}
	return nil
}

// forget removes the throw-away client where the server offers that (RFC 7592 §2.3), on the server's own host only.
func (w *walk) forget(ctx context.Context, r registered) {
	at, err := url.Parse(r.ManagedAt)
	home, err2 := url.Parse(w.server.RegistrationEndpoint)
	if err != nil || err2 != nil || r.Management == "" || at.Scheme != home.Scheme || at.Host != home.Host {
		return
	}
	a := w.send(ctx, request{method: http.MethodDelete, url: r.ManagedAt, header: []string{"Authorization", "Bearer " + r.Management}})
	if a.err == nil && a.status == http.StatusNoContent {
		w.note("forget", "Throw-away client", "removed again")
	}
}
