package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/connection"
)

const cimd = "https://app.example/client.json"

// adminSite is a site with something to administer.
func adminSite(t *testing.T) (*site, *browser) {
	t.Helper()
	s := newSite(t)
	s.clients.list = []connection.KnownClient{
		{ID: cimd, Kind: "document", Name: "ChatGPT", Host: "app.example", Connections: 2, SoftwareID: "chat", SoftwareVersion: "7", RedirectURIs: []string{"https://app.example/callback"}},
		{ID: "dyn-1", Kind: "dynamic", Name: "Robot", BlockedAt: new(time.Time)},
	}
	s.connections.add(connection.Connection{ID: foreign, UserID: "user " + email, UserName: "Ada", UserEmail: email, Client: connection.Client{ID: cimd, Name: "ChatGPT", Kind: "document", Host: "app.example"},
		Resource: s.url + "/mcp", Scopes: []string{"home:read"}, CreatedAt: s.clock.Now(), Installations: []connection.Installation{{ID: "i1", DeviceHint: "Codex on Linux", FirstSeenAt: s.clock.Now()}}})
	return s, s.signedInAs(t, adminEmail)
}

// press opens a page and presses the button of the form to the action.
func (b *browser) press(t *testing.T, page, action string, more ...string) *answer {
	t.Helper()
	form := b.get(t, page).form(t, action)
	for i := 0; i+1 < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return b.post(t, action, form)
}

var adminPages = []string{
	"/admin", "/admin/people", "/admin/people/new", "/admin/people/user " + email, "/admin/clients", "/admin/clients/new", "/admin/clients/client?id=" + url.QueryEscape(cimd),
	"/admin/connections", "/admin/connections/" + foreign, "/admin/attempts", "/admin/attempts/" + attemptID, "/admin/keys", "/admin/audit",
}

func TestEveryAdminPage(t *testing.T) {
	t.Parallel()
	s, admin := adminSite(t)
	member := s.signedIn(t)
	for _, page := range adminPages {
		page = strings.ReplaceAll(page, " ", "%20")
		a := admin.get(t, page)
		if a.status != http.StatusOK || a.find("nav", "aria-label", "Administration") == nil {
			t.Errorf("%s: %d", page, a.status)
		}
		if policy := a.header.Get("Content-Security-Policy"); strings.Contains(policy, "script-src") || !strings.Contains(policy, "form-action 'self'") || a.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("BH-1 %s: policy %q", page, policy)
		}
		if a := member.get(t, page); a.status != http.StatusNotFound {
			t.Errorf("%s for a member: %d; want 404", page, a.status)
		}
	}
	for _, r := range []string{"/admin/people/user%20" + email + "/disable", "/admin/clients/block?id=dyn-1", "/admin/connections/" + foreign + "/end", "/admin/keys/rotate", "/admin/keys/k/drop", "/admin/people/new", "/admin/clients/new"} {
		if a := member.post(t, r, url.Values{}); a.status != http.StatusNotFound {
			t.Errorf("POST %s for a member: %d; want 404", r, a.status)
		}
		if a := admin.post(t, r, url.Values{"csrf": {"wrong"}}); a.status != http.StatusForbidden {
			t.Errorf("BH-5 POST %s without the form's token: %d; want 403", r, a.status)
		}
	}
	if got := append(s.accounts.noted, s.clients.noted...); len(got) != 0 || len(s.audit.actions()) != 0 {
		t.Errorf("something was done: %q, recorded %q", got, s.audit.actions())
	}
}

func TestAdminActions(t *testing.T) {
	t.Parallel()
	s, admin := adminSite(t)
	ada, clientPage := "/admin/people/user%20"+email, "/admin/clients/client?id="+url.QueryEscape(cimd)
	for _, c := range []struct {
		page, action string
		more         []string
		entry        string
	}{
		{ada, ada + "/disable", nil, audit.PersonDisabled},
		{ada, ada + "/promote", nil, audit.PersonPromoted},
		{clientPage, "/admin/clients/block?id=" + url.QueryEscape(cimd), nil, audit.ClientBlocked},
		{"/admin/clients/client?id=dyn-1", "/admin/clients/unblock?id=dyn-1", nil, audit.ClientUnblocked},
		{clientPage, "/admin/clients/delete?id=" + url.QueryEscape(cimd), []string{"confirm", "yes"}, audit.ClientDeleted},
		{"/admin/connections/" + foreign, "/admin/connections/" + foreign + "/installations/i1/end", nil, audit.InstallationEnded},
		{"/admin/connections/" + foreign, "/admin/connections/" + foreign + "/end", nil, audit.ConnectionEnded},
		{"/admin/keys", "/admin/keys/rotate", nil, audit.KeyRotated},
	} {
		before := len(s.audit.actions())
		a := admin.press(t, c.page, c.action, c.more...)
		actions := s.audit.actions()
		if a.status != http.StatusSeeOther || len(actions) != before+1 || actions[before] != c.entry {
			t.Errorf("AD-1 %s: %d to %q, recorded %q; want %s", c.action, a.status, a.header.Get("Location"), actions[before:], c.entry)
		}
	}
	for _, e := range s.audit.list {
		if e.Actor != audit.ActorPerson || e.ActorID != "user "+adminEmail || e.Address == "" {
			t.Errorf("entry %+v does not say who and from where", e)
		}
	}
	if e := s.audit.list[6]; e.PersonID != "user "+email || e.ClientID != cimd || e.ConnectionID != foreign {
		t.Errorf("entry %+v does not say whose connection ended", e)
	}
	if want := []string{"disable user " + email, "promote user " + email}; !slices.Equal(s.accounts.noted, want) {
		t.Errorf("done: %q; want %q", s.accounts.noted, want)
	}
	if want := []string{"block " + cimd, "unblock dyn-1", "delete " + cimd}; !slices.Equal(s.clients.noted, want) {
		t.Errorf("done: %q; want %q", s.clients.noted, want)
	}
}

// AD-1: actions of administrators need a sign-in of the last ten minutes; a form is not sent again by itself.
func TestAdminActionsNeedARecentSignIn(t *testing.T) {
	t.Parallel()
	s, admin := adminSite(t)
	clientPage, action := "/admin/clients/client?id="+url.QueryEscape(cimd), "/admin/clients/block?id="+url.QueryEscape(cimd)
	s.clock.Advance(10*time.Minute + time.Second)
	a := admin.press(t, clientPage, action)
	location, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusSeeOther || location.Path != "/signin" || location.Query().Get("again") != "1" || len(s.clients.noted) != 0 || len(s.audit.list) != 0 {
		t.Fatalf("AD-1 an old sign-in: %d to %q, done %q", a.status, location, s.clients.noted)
	}
	page := admin.get(t, location.String())
	form := page.form(t, "/signin")
	if page.status != http.StatusOK || form.Get("again") != "1" || form.Get("email") != adminEmail || !strings.Contains(page.body, "Confirm that it is you") {
		t.Fatalf("AD-1 the sign-in page: %d %v", page.status, form)
	}
	form.Set("password", "not it")
	if wrong := admin.post(t, "/signin", form); wrong.status != http.StatusUnprocessableEntity || wrong.form(t, "/signin").Get("again") != "1" {
		t.Errorf("a wrong password: %d", wrong.status)
	}
	form.Set("password", password)
	back := admin.post(t, "/signin", form).header.Get("Location")
	if back != clientPage+"&done=confirmed" {
		t.Fatalf("AD-1 back to %q", back)
	}
	if a := admin.get(t, back); !strings.Contains(a.body, "Nothing was done yet: press the button again.") || len(s.clients.noted) != 0 {
		t.Error("AD-1 the page does not say that the button has to be pressed again, or the form was sent by itself")
	}
	if a := admin.press(t, clientPage, action); a.status != http.StatusSeeOther || !slices.Equal(s.clients.noted, []string{"block " + cimd}) {
		t.Errorf("AD-1 pressed again: %d, done %q", a.status, s.clients.noted)
	}
}

func TestAdminDoesNotShutThemselvesOut(t *testing.T) {
	t.Parallel()
	s, admin := adminSite(t)
	me := "/admin/people/user%20" + adminEmail
	page := admin.get(t, me)
	for _, action := range []string{"/disable", "/demote"} {
		if page.find("form", "action", me+action) != nil {
			t.Errorf("%s is offered for oneself", action)
		}
	}
	s.accounts.refuse = account.ErrLastAdmin
	ada := "/admin/people/user%20" + email
	a := admin.press(t, ada, ada+"/disable")
	if a.status != http.StatusConflict || !strings.Contains(a.body, "only administrator") || len(s.audit.list) != 0 {
		t.Errorf("the last administrator: %d, recorded %d", a.status, len(s.audit.list))
	}
}

func TestSecretsAreShownOnce(t *testing.T) {
	t.Parallel()
	s, admin := adminSite(t)
	ada := "/admin/people/user%20" + email
	for name, c := range map[string]struct {
		page, action string
		more         []string
		secret       string
	}{
		"reset link": {ada, ada + "/reset-link", nil, "https://home.example/reset?token=gsr_again"},
		"new person": {"/admin/people/new", "/admin/people/new", []string{"email", "carl@example.org", "name", "Carl"}, "https://home.example/reset?token=gsr_new"},
		"client": {"/admin/clients/new", "/admin/clients/new",
			[]string{"name", "Robot", "redirect_uris", "https://robot.example/cb\nhttp://localhost:7/cb", "proof", "secret", "contacts", "a@b.example\nc@d.example", "dpop_bound", "yes"}, "the-secret"},
	} {
		a := admin.press(t, c.page, c.action, c.more...)
		if a.status != http.StatusSeeOther || a.header.Get("Location") != "/admin/once" || strings.Contains(a.header.Get("Set-Cookie"), c.secret) {
			t.Fatalf("%s: %d to %q", name, a.status, a.header.Get("Location"))
		}
		if first := admin.get(t, "/admin/once"); first.status != http.StatusOK || !strings.Contains(first.body, c.secret) {
			t.Errorf("%s: the secret is not shown: %d", name, first.status)
		}
		if second := admin.get(t, "/admin/once"); second.status != http.StatusSeeOther || strings.Contains(second.body, c.secret) {
			t.Errorf("%s: the secret is shown twice", name)
		}
	}
	if n := s.clients.added[0]; !n.Confidential || !n.DPoPBound || len(n.RedirectURIs) != 2 || len(n.Contacts) != 2 {
		t.Errorf("entered %+v", n)
	}
	for _, e := range s.audit.list {
		for _, value := range e.Detail {
			if strings.Contains(value, "secret") || strings.Contains(value, "gsr_") {
				t.Errorf("a secret is in the audit record: %+v", e)
			}
		}
	}
}

func TestNewClientForm(t *testing.T) {
	t.Parallel()
	s, admin := adminSite(t)
	for name, c := range map[string]struct {
		more   []string
		status int
		text   string
	}{
		"no redirect URI": {[]string{"name", "Robot"}, http.StatusUnprocessableEntity, "at least one redirect URI"},
		"keys not said":   {[]string{"name", "Robot", "redirect_uris", "https://r.example/cb", "proof", "jwks_uri"}, http.StatusUnprocessableEntity, "publishes its keys"},
		"keys no JSON":    {[]string{"name", "Robot", "redirect_uris", "https://r.example/cb", "proof", "jwks", "jwks", "{"}, http.StatusUnprocessableEntity, "JWK Set"},
		"public":          {[]string{"name", "Robot", "redirect_uris", "https://r.example/cb", "jwks_uri", "https://ignored.example"}, http.StatusSeeOther, ""},
	} {
		a := admin.press(t, "/admin/clients/new", "/admin/clients/new", c.more...)
		if a.status != c.status || !strings.Contains(a.body, c.text) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if c.status == http.StatusUnprocessableEntity && a.find("input", "value", "Robot") == nil {
			t.Errorf("%s: what was entered is lost", name)
		}
	}
	if len(s.clients.added) != 1 || s.clients.added[0].JWKSURI != "" {
		t.Errorf("entered %+v; keys belong to the chosen proof alone", s.clients.added)
	}
	if a := admin.press(t, "/admin/clients/client?id="+url.QueryEscape(cimd), "/admin/clients/delete?id="+url.QueryEscape(cimd)); a.status != http.StatusSeeOther || len(s.clients.noted) != 0 {
		t.Errorf("deleted without the tick: %q", s.clients.noted)
	}
}

func TestAdminFilters(t *testing.T) {
	t.Parallel()
	_, admin := adminSite(t)
	for path, want := range map[string]string{
		"/admin/connections?person=" + email: "ChatGPT", "/admin/connections?host=app.example&client=Chat": "ChatGPT", "/admin/connections?host=other.example": "Nothing matches",
		"/admin/connections?person=nobody@example.org": "There is no person", "/admin/people?q=bob": "bob@example.org", "/admin/people?state=disabled": "Nothing matches",
		"/admin/clients?kind=dynamic": "Robot", "/admin/clients?blocked=1": "Robot", "/admin/clients?q=nothing": "Nothing matches",
		"/admin/attempts?person=bob@example.org": "Nothing matches", "/admin/attempts?client=ChatGPT&failed=1": "The redirect_uri is not registered.",
		"/admin/attempts?id=gone": "No attempt has this id.", "/admin/clients?page=9": "Nothing", "/admin/clients?page=-1": "Robot",
	} {
		if a := admin.get(t, path); a.status != http.StatusOK || !strings.Contains(a.body, want) && path != "/admin/clients?page=9" {
			t.Errorf("%s: %d without %q", path, a.status, want)
		}
	}
	// The id on an error page finds the attempt.
	if a := admin.get(t, "/admin/attempts?id=request-1"); a.status != http.StatusSeeOther || a.header.Get("Location") != "/admin/attempts/"+attemptID {
		t.Errorf("by the id of an error page: %d to %q", a.status, a.header.Get("Location"))
	}
}

func TestAdminListsGoOn(t *testing.T) {
	t.Parallel()
	s, admin := adminSite(t)
	for range 60 {
		s.clients.list = append(s.clients.list, connection.KnownClient{ID: "many", Kind: "dynamic", Name: "Many & more"})
	}
	path, pages := "/admin/clients?kind=dynamic&q=Many+%26", 0
	for path != "" {
		a := admin.get(t, path)
		if path, pages = "", pages+1; pages > 5 {
			t.Fatal("the pages do not end")
		}
		if next := a.find("a", "rel", "next"); next != nil {
			path = attr(next, "href")
		}
	}
	if pages != 3 {
		t.Errorf("%d pages of 60 clients; want 3", pages)
	}
}
