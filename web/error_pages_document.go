package web

import (
	"net/http"
	"net/url"
	"strings"

	"gatehouse/oauth"
	"gatehouse/templates/lang"
)

// explainDocument explains errors about the description of a client whose id is the URL of one, and about blocked
// clients. It reports whether it did.
func explainDocument(p *PageError, e *oauth.Error) bool {
	if e.Check == "client_blocked" {
		p.Status, p.Title, p.What = http.StatusBadRequest, lang.Text("This app is blocked here"), lang.Text("Nothing was connected.")
		p.Why = lang.Text("An administrator of this server blocked the app for everybody.")
		p.Advice = []string{lang.Text("If you need the app, ask your administrator.")}
		return true
	}
	p.Host = documentHost(e.ClientID)
	if p.Host == "" {
		return false
	}
	switch {
	case e.Check == "client_document" && e.Status == http.StatusServiceUnavailable:
		p.Title, p.What = lang.Text("The app's own site does not answer"), lang.Text("Nothing was connected. This server asked {host} what the app is, and got no answer that it could use.")
		p.Why = lang.Text("{host} is down, turns this server away, or cannot be reached from here.")
		p.Advice = []string{lang.Text("Wait for a few minutes and start again from the app."), lang.Text("If it stays: an administrator can see whether this server reaches {host}.")}
	case e.Check == "client_document" || e.Check == "client_id":
		p.Status, p.Title = http.StatusBadRequest, lang.Text("The app's description is not valid")
		p.What = lang.Text("Nothing was connected. The app describes itself at {host}, and that description breaks a rule, so that nobody can tell whether the app is what it says.")
		p.Why, p.Advice = e.Description, []string{lang.Text("Tell the app's maker what stands here. Only they can mend it."), lang.Text("An administrator can enter the app by hand meanwhile.")}
	case e.Check == "client_document_limit":
		p.Status, p.Title = http.StatusTooManyRequests, lang.Text("The app's description was asked for too often")
		p.What, p.Advice = lang.Text("Nothing was connected. This server asks {host} only so often."), []string{lang.Text("Wait for a minute and start again from the app.")}
	case e.Check == "client":
		p.Status, p.Title = http.StatusBadRequest, lang.Text("Apps of this kind are not accepted here")
		p.What = lang.Text("Nothing was connected. The app introduces itself by a description at {host}, and an administrator has switched that off.")
		p.Advice = []string{lang.Text("If you need the app, ask your administrator to enter it by hand.")}
	default:
		return false
	}
	return true
}

// documentHost is the host in a client id that is the URL of a description; empty for every other id, and for a host
// that could pass itself off as another.
func documentHost(clientID string) string {
	u, err := url.Parse(clientID)
	if err != nil || u.Scheme != "https" || strings.ContainsFunc(u.Host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return u.Host
}
