package oauth_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"gatehouse/oauth"
)

// FuzzAuthorize: no parameters make a panic, a server error, or an answer to anywhere but a registered redirect URI.
func FuzzAuthorize(f *testing.F) {
	for _, form := range []url.Values{
		authorizeForm(publicClient), authorizeForm(documentURL, "prompt", "none", "max_age", "1"),
		authorizeForm(publicClient, "redirect_uri", "http://127.0.0.1:1/cb", "resource", sideResource, "scope", "side:read"),
		authorizeForm("", "state", "-"),
	} {
		f.Add(form.Encode(), true)
		f.Add(form.Encode()+"&state=2", false)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, raw string, signedIn bool) {
		form, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		request, err := w.BeginAuthorization(t.Context(), form, signedIn)
		if toClient := (*oauth.RedirectError)(nil); errors.As(err, &toClient) {
			location := toClient.Location(issuer)
			if !strings.HasPrefix(location, redirectURI+"&") && !strings.HasPrefix(location, "http://127.0.0.1") &&
				!strings.HasPrefix(location, "com.example.app:/cb?") {
				t.Fatalf("error goes to %q", location)
			}
			got := query(t, location)
			if got.Get("iss") != issuer || toClient.HasState && got.Get("state") != form.Get("state") {
				t.Fatalf("answer is %q", location)
			}
			return
		}
		if e := (*oauth.Error)(nil); errors.As(err, &e) {
			if e.Status >= 500 && e.Code != "temporarily_unavailable" || oauth.CleanDescription(e.Description) != e.Description {
				t.Fatalf("error is %v", e)
			}
			return
		}
		if err != nil {
			t.Fatalf("error is neither shown nor sent: %v", err)
		}
		if len(form["client_id"]) != 1 || len(form["state"]) > 1 {
			t.Fatalf("accepted %q", raw)
		}
		if _, err := w.ResumeAuthorization(t.Context(), request.ID, w.person); err != nil && signedIn && form.Get("prompt") != "none" {
			t.Fatalf("accepted, then refused: %v", err)
		}
	})
}

// FuzzToken: no form makes a panic, a server error, or tokens out of nothing.
func FuzzToken(f *testing.F) {
	w := newWorld(f)
	f.Add("grant_type=authorization_code&code=gtc_x&code_verifier="+verifier, publicClient, "")
	f.Add("grant_type=refresh_token&refresh_token=gtr_x&scope=read&resource=x", secretClient, clientSecret)
	f.Add("grant_type=&code=&code=", "", "x")
	f.Fuzz(func(t *testing.T, raw, client, secret string) {
		form, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		auth := oauth.ClientAuthentication{ClientID: client, ClientSecret: secret, HasSecret: true}
		response, err := w.Token(t.Context(), form, auth)
		var e *oauth.Error
		if response != nil || !errors.As(err, &e) || e.Code == "server_error" {
			t.Fatalf("answer %+v, error %v", response, err)
		}
		if err := w.Revoke(t.Context(), form, auth); err != nil && !errors.As(err, &e) {
			t.Fatalf("error is %v", err)
		}
	})
}

// FuzzVerifyAccessToken: a token that verifies is one of ours, byte for byte up to the slack of base64.
func FuzzVerifyAccessToken(f *testing.F) {
	w := newWorld(f)
	good := w.connect(publicClient).AccessToken
	f.Add(good)
	f.Add(good + "=")
	f.Add(strings.Replace(good, ".", "..", 1))
	f.Add("eyJhbGciOiJub25lIn0..")
	f.Add("")
	f.Fuzz(func(t *testing.T, token string) {
		verified, err := w.VerifyAccessToken(context.Background(), token, mainResource)
		if err != nil {
			var e *oauth.Error
			if !errors.As(err, &e) || e.Code != "invalid_token" {
				t.Fatalf("error is %v", err)
			}
			return
		}
		parts, ours := strings.Split(token, "."), strings.Split(good, ".")
		if verified.Subject != "alice" || parts[0] != ours[0] || parts[1] != ours[1] {
			t.Fatalf("verified %q", token)
		}
	})
}
