package oauth

// The token request: OAuth 2.1 §3.2, §3.2.2; RFC 8707 §2.2 (resource).

import "net/url"

// tokenParameters are the parameters of token and revocation requests that may appear once at most.
var tokenParameters = []string{
	"grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "client_id", "client_secret",
	"client_assertion", "client_assertion_type", "token", "token_type_hint", "authorization_details",
	"device_code", "assertion",
}

// tokenRequest is a token request read once; later code sees only this.
type tokenRequest struct {
	grantType    string
	code         string
	redirectURI  string
	codeVerifier string
	refreshToken string
	deviceCode   string
	assertion    string
	scope        string
	// details is authorization_details.
	details   string
	resources []string
	// keyThumbprint is the key of the request's checked DPoP proof, or "".
	keyThumbprint string
}

// checkSingle refuses a parameter that appears twice (§3.2). An empty value counts as absent, but not as no appearance.
func checkSingle(form url.Values) *Error {
	for _, name := range tokenParameters {
		if len(form[name]) > 1 {
			return InvalidRequest("A parameter appears twice: " + name).WithCheck(name)
		}
	}
	return nil
}

func parseTokenRequest(form url.Values) tokenRequest {
	return tokenRequest{
		grantType:    form.Get("grant_type"),
		code:         form.Get("code"),
		redirectURI:  form.Get("redirect_uri"),
		codeVerifier: form.Get("code_verifier"),
		refreshToken: form.Get("refresh_token"),
		deviceCode:   form.Get("device_code"),
		assertion:    form.Get("assertion"),
		scope:        form.Get("scope"),
		details:      form.Get("authorization_details"),
		resources:    form["resource"],
	}
}
