package endpoint

import (
	"context"
	"net/http"
	"strings"

	"gatehouse/app/home"
	"gatehouse/oauth"
)

// bound authenticates with a token that is bound to a key: RFC 9449 §7.1.
func (e *Endpoint) bound(r *http.Request, token string) (*home.Principal, error) {
	proof := oauth.ProofRequest{Headers: r.Header.Values("DPoP"), Method: r.Method, URL: e.address(r)}
	if e.isStored(token) {
		return e.stored(r, token, &proof)
	}
	at, err := e.cfg.Prove.VerifyBoundToken(r.Context(), token, e.cfg.Profile.Resource, proof)
	if err != nil {
		return nil, err
	}
	return e.principal(r, at)
}

// address is the configured URL of the endpoint as the request spells its path: with or without a slash at the end.
func (e *Endpoint) address(r *http.Request) string {
	if strings.HasSuffix(r.URL.Path, "/") {
		return e.cfg.Profile.Resource + "/"
	}
	return e.cfg.Profile.Resource
}

func proofAlgorithms() string { return `algs="` + strings.Join(oauth.ProofAlgorithms(), " ") + `"` }

type boundKey struct{}

// withScheme is the context of a request that was let in, with how its token came.
func withScheme(r *http.Request) context.Context {
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "DPoP") {
		return r.Context()
	}
	return context.WithValue(r.Context(), boundKey{}, true)
}

func cameBound(ctx context.Context) bool {
	bound, _ := ctx.Value(boundKey{}).(bool)
	return bound
}

// setChallenge sets the WWW-Authenticate values of a refusal. The Bearer challenge comes first, since some clients look
// no further (BR-7); the error stands in the challenge of the scheme that was used. A DPoP challenge is added only for a
// client that spoke of DPoP itself: the others find it in the metadata, and some read no more than one challenge.
func (e *Endpoint) setChallenge(w http.ResponseWriter, r *http.Request, code, description string) {
	h := w.Header()
	scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if e.cfg.Prove == nil || !strings.EqualFold(scheme, "DPoP") && len(r.Header.Values("DPoP")) == 0 {
		h.Set("WWW-Authenticate", e.challenge(code, description))
		return
	}
	proof := "DPoP " + proofAlgorithms()
	if code != "" && strings.EqualFold(scheme, "DPoP") {
		proof = `DPoP error="` + code + `", error_description="` + oauth.CleanDescription(description) + `", ` + strings.TrimPrefix(proof, "DPoP ")
		code, description = "", ""
	}
	h.Set("WWW-Authenticate", e.challenge(code, description))
	h.Add("WWW-Authenticate", proof)
}
