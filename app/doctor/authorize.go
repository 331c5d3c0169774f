package doctor

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

const (
	browserAgent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
	// strangeRedirect is registered by nobody; .invalid has no addresses (RFC 2606 §2).
	strangeRedirect = "https://gatehouse-doctor.invalid/callback"
	maxHops         = 10
)

// trail is where a browser came to from an authorization request.
type trail struct {
	last *answer
	// away is the address outside the authorization server to which it was sent on, unless that is the page asked for.
	away *url.URL
	fail *problem
}

// authorizeURL is the authorization request of an app (OAuth 2.1 §4.1.1, RFC 8707 §2).
func (w *walk) authorizeURL(a app, clientID, redirect string) (string, error) {
	at, err := url.Parse(w.server.AuthorizationEndpoint)
	if err != nil || at.Host == "" {
		return "", fmt.Errorf("authorization_endpoint is not a URL")
	}
	sum := sha256.Sum256([]byte(w.random()))
	q := at.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": clientID, "redirect_uri": redirect, "state": w.random(), "resource": w.resource.Resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256", "scope": w.scope(a),
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if a.consent && w.asksOffline(a) {
		q.Set("prompt", "consent")
	}
	at.RawQuery = q.Encode()
	return at.String(), nil
}

// browse opens an address as a browser would and follows redirects on that host, with the cookies it is given.
func (w *walk) browse(ctx context.Context, address string) trail {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return trail{fail: &problem{finding: "no_answer", detail: err.Error(), mend: mendNoAnswer}}
	}
	first, err := url.Parse(address)
	if err != nil {
		return trail{fail: &problem{finding: "no_answer", detail: err.Error(), mend: mendNoAnswer}}
	}
	at := first
	for range maxHops {
		header := []string{"Accept", "text/html,application/xhtml+xml"}
		for _, c := range jar.Cookies(at) {
			header = withCookie(header, c)
		}
		a := w.send(ctx, request{method: http.MethodGet, url: at.String(), agent: browserAgent, header: header})
		if a.err != nil {
			return trail{last: a, fail: a.silence()}
		}
		jar.SetCookies(at, (&http.Response{Header: a.header}).Cookies())
		if a.status < 300 || a.status > 399 {
			return trail{last: a}
		}
		next, err := at.Parse(a.header.Get("Location"))
		if err != nil || a.header.Get("Location") == "" {
			return trail{last: a, fail: &problem{finding: "bad_redirect", detail: a.seen() + " to " + orNothing(a.header.Get("Location")), mend: mendServerError}}
		}
		if next.Host != first.Host || next.Scheme != first.Scheme {
			return trail{last: a, away: next}
		}
		at = next
	}
	return trail{fail: &problem{finding: "loop", detail: fmt.Sprintf("more than %d redirects in a row", maxHops),
		mend: "A rule of the proxy and one of the server undo each other (often http to https behind TLS). Pass the scheme on, and set GATEHOUSE_PUBLIC_URL."}}
}

func withCookie(header []string, c *http.Cookie) []string {
	pair := c.Name + "=" + c.Value
	if n := len(header); n >= 2 && header[n-2] == "Cookie" {
		header[n-1] += "; " + pair
		return header
	}
	return append(header, "Cookie", pair)
}

// authorize opens the authorization request as the app's user would. A page must come, for signing in or for consent.
func (w *walk) authorize(ctx context.Context, a app, clientID, check, title string) {
	address, err := w.authorizeURL(a, clientID, a.redirect)
	if err != nil {
		w.note(check, title, "not tried: "+err.Error())
		return
	}
	t := w.browse(ctx, address)
	detail, p := "", t.fail
	if p == nil {
		detail, p = w.judgePage(t, a, clientID)
	}
	w.judge(check, title, detail, p)
}

func (w *walk) judgePage(t trail, a app, clientID string) (string, *problem) {
	if t.away != nil {
		return w.judgeAway(t.away, a)
	}
	page := t.last
	where := strings.SplitN(page.url, "?", 2)[0]
	switch {
	case page.status >= 400 && page.status < 500 && clientID == a.document:
		return "", &problem{finding: "document_refused", detail: page.seen(),
			mend: "The server must be able to read " + a.document + " itself: let it reach the internet on port 443. Where it cannot, turn client documents off (GATEHOUSE_CLIENT_DOCUMENTS=false) and apps register instead."}
	case page.status == http.StatusNotFound:
		return "", &problem{finding: "missing", detail: where + " answers " + page.seen(), mend: mendMissing}
	case page.blocked():
		return "", &problem{finding: "blocked", detail: page.seen(), mend: mendBlocked(page)}
	case page.status >= 500:
		return "", &problem{finding: "server_error", detail: page.seen(), mend: mendServerError}
	case page.status >= 400:
		return "", &problem{finding: "refused", detail: page.seen(), mend: "The request is one that " + a.name + " sends; the page or the server's log says which check refused it."}
	case !page.html():
		return "", &problem{finding: "no_page", detail: where + " answers " + page.seen() + " as " + orNothing(page.header.Get("Content-Type")), mend: "A browser comes here; it must get a page."}
	}
	if clientID == a.document {
		return page.seen() + "; Gatehouse reads the document itself after the sign-in", nil
	}
	return page.seen(), nil
}

// judgeAway judges a redirect off the authorization server.
func (w *walk) judgeAway(to *url.URL, a app) (string, *problem) {
	base, _, _ := strings.Cut(to.String(), "?")
	q := to.Query()
	switch {
	case base == a.redirect && q.Get("error") != "":
		return "", &problem{finding: "refused", detail: strings.TrimSpace("sent back with " + q.Get("error") + " " + q.Get("error_description")),
			mend: "The request is one that " + a.name + " sends; it must lead to a page."}
	case base == a.redirect:
		return "", &problem{finding: "without_asking", detail: "sent back with a code, without a sign-in and without asking anybody",
			mend: "The authorization endpoint must sign a person in and ask them."}
	case to.Scheme == "http" && w.endpoint.Scheme == "https":
		return "", &problem{finding: "wrong_public_url", detail: "sends the browser to " + base + ", plain http", mend: mendPublicURL}
	}
	return "leads on to " + to.Host + " to sign in", nil
}

// wrongRedirect asks for the answer at an address that the app never registered. The browser must not be sent there.
func (w *walk) wrongRedirect(ctx context.Context, a app, clientID string) {
	const check = "authorize.redirect"
	title := a.name + " with an unregistered redirect URI"
	address, err := w.authorizeURL(a, clientID, strangeRedirect)
	if err != nil {
		w.note(check, title, "not tried: "+err.Error())
		return
	}
	t := w.browse(ctx, address)
	p := t.fail
	switch {
	case p != nil:
	case t.away != nil && strings.HasPrefix(t.away.String(), strangeRedirect):
		p = &problem{finding: "open_redirect", detail: "the browser is sent to " + strangeRedirect,
			mend: "Compare redirect URIs exactly and show an error page (OAuth 2.1 §4.1.2.1): codes can be stolen this way."}
	case t.away == nil && t.last.status >= 500:
		p = &problem{finding: "server_error", detail: t.last.seen(), mend: mendServerError}
	}
	w.judge(check, title, "nobody is sent there", p)
}
