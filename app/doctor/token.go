package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

const mendTokenError = "The token endpoint must answer errors as JSON with the code of RFC 6749 §5.2: apps decide by it whether to register anew, sign in anew or wait."

// oauthError reads an answer that must be an OAuth error in JSON.
func (a *answer) oauthError() (string, *problem) {
	if p := a.transport(); p != nil {
		return "", p
	}
	if a.status == http.StatusNotFound {
		return "", &problem{finding: "missing", detail: a.url + " answers " + a.seen(), mend: mendMissing}
	}
	var e struct {
		Error string `json:"error"`
	}
	if p := a.object(&e); p != nil {
		return "", p
	}
	if a.status < 400 || e.Error == "" {
		return "", &problem{finding: "no_error", detail: fmt.Sprintf("%s answers %d without an error code", a.url, a.status), mend: mendTokenError}
	}
	return e.Error, nil
}

// wants is the fault of an error other than the one that apps rely on.
func (a *answer) wants(status int, code, why string) *problem {
	got, p := a.oauthError()
	switch {
	case p != nil:
		return p
	case got != code:
		return &problem{finding: "wrong_error", detail: fmt.Sprintf("%d %s in place of %d %s", a.status, a.message(), status, code), mend: why}
	case a.status != status:
		return &problem{finding: "wrong_status", mild: true, detail: fmt.Sprintf("%s with status %d in place of %d", code, a.status, status), mend: why}
	}
	return nil
}

// tokenEndpoint looks at the errors that do not need a registration.
func (w *walk) tokenEndpoint(ctx context.Context) {
	if w.server == nil || w.server.TokenEndpoint == "" {
		w.note("token", "Token endpoint", "not tried: no metadata names it")
		return
	}
	a := w.postForm(ctx, w.server.TokenEndpoint, "", url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"gatehouse-doctor-unknown"}, "code": {w.random()},
		"redirect_uri": {"http://127.0.0.1/callback"}, "code_verifier": {w.random()}, "resource": {w.resource.Resource},
	})
	w.judge("token.unknown_client", "Token endpoint, unknown app", "401 invalid_client", a.wants(http.StatusUnauthorized, "invalid_client",
		"An unknown client must get 401 invalid_client: apps register anew on nothing else and stay stuck."))
	_, p := w.postForm(ctx, w.server.TokenEndpoint, "", url.Values{"grant_type": {"gatehouse-doctor"}}).oauthError()
	w.judge("token.bad_request", "Token endpoint, bad request", "an error in JSON", p)
}

// deadGrants presents a code and a refresh token that never were, as a known app.
func (w *walk) deadGrants(ctx context.Context, a app, clientID string) {
	const why = "A dead code or refresh token must get 400 invalid_grant. With invalid_client apps throw their registration away, with 5xx they try for ever."
	p := w.postForm(ctx, w.server.TokenEndpoint, a.agent, url.Values{
		"grant_type": {"authorization_code"}, "client_id": {clientID}, "code": {w.random()}, "redirect_uri": {a.redirect},
		"code_verifier": {w.random()}, "resource": {w.resource.Resource},
	}).wants(http.StatusBadRequest, "invalid_grant", why)
	if p == nil {
		p = w.postForm(ctx, w.server.TokenEndpoint, a.agent, url.Values{
			"grant_type": {"refresh_token"}, "client_id": {clientID}, "refresh_token": {w.random()}, "resource": {w.resource.Resource},
		}).wants(http.StatusBadRequest, "invalid_grant", why)
	}
	w.judge("token.dead", a.name+": dead code and refresh token", "400 invalid_grant", p)
}
