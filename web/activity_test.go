package web_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
)

// fakeActivity is a log whose undos come to what a test says.
type fakeActivity struct {
	mu      sync.Mutex
	entries []inventory.SeenEntry
	more    bool
	err     error
	result  inventory.UndoResult
	undone  []string
	since   time.Time
	asked   []inventory.Paging
	by      *home.Principal
}

func (f *fakeActivity) Activity(_ context.Context, _ *home.Principal, _ inventory.Through, page inventory.Paging) (inventory.Page[inventory.SeenEntry], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, page)
	if page.After == "broken" {
		return inventory.Page[inventory.SeenEntry]{}, &inventory.Error{Code: inventory.CodeValidation}
	}
	out := inventory.Page[inventory.SeenEntry]{Items: f.entries, More: f.more}
	for _, e := range f.entries {
		out.Positions = append(out.Positions, "9."+e.ID)
	}
	return out, nil
}

func (f *fakeActivity) SeenEntries(_ context.Context, _ *home.Principal, ids []string) (map[string]inventory.SeenEntry, error) {
	out := map[string]inventory.SeenEntry{}
	for _, e := range f.entries {
		for _, id := range ids {
			if id == e.ID {
				out[id] = e
			}
		}
	}
	return out, nil
}

func (f *fakeActivity) UndoEntry(_ context.Context, p *home.Principal, id string) (inventory.Undone, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.undone, f.by = append(f.undone, id), p
	return inventory.Undone{UndoOf: id}, f.err
}

func (f *fakeActivity) UndoThrough(_ context.Context, _ *home.Principal, through inventory.Through, since time.Time) (inventory.UndoResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.undone, f.since = append(f.undone, through.ConnectionID+through.TokenID), since
	return f.result, f.err
}

const activityAddress = "/settings/connections/c1/activity"

// withActivity is a site whose person has the connection c1 with two writes.
func withActivity(t *testing.T) (*site, *browser) {
	t.Helper()
	s := newSite(t)
	for id, user := range map[string]string{"c1": "user " + email, "c9": "user bob@example.org"} {
		s.connections.add(connection.Connection{ID: id, UserID: user, Client: connection.Client{ID: "x", Name: "Claude"}, Resource: s.url + "/mcp", CreatedAt: s.clock.Now()})
	}
	now := s.clock.Now()
	until := now.Add(7 * 24 * time.Hour)
	s.activity.entries = []inventory.SeenEntry{
		{ID: "e2", Action: "thing.move", At: now.Add(5 * time.Millisecond), LocationName: "Home", Summary: "Moved “<b>Drill</b>”.", UndoUntil: &until, MayUndo: true,
			Changes: []inventory.SeenChange{{Field: "place", From: "Attic", To: strings.Repeat("é", 300)}, {Field: "value", Hidden: true}}},
		{ID: "e1", Action: "thing.create", At: now, LocationName: "Home", Summary: "Added “Drill”.", UndoneAt: &now, UndoneBy: "Ada"},
		{ID: "e0", Action: "thing.create", At: now.Add(-8 * 24 * time.Hour), Summary: "Added “Saw”."},
		{ID: "ef", Action: "thing.update", At: now, Summary: "Changed something.", UndoUntil: &until},
	}
	return s, s.signedIn(t)
}

func TestActivityPage(t *testing.T) {
	t.Parallel()
	s, b := withActivity(t)
	s.activity.more = true
	page := b.get(t, activityAddress)
	for what, want := range map[string]string{
		"the sentence, escaped": "Moved “&lt;b&gt;Drill&lt;/b&gt;”.", "before and after": "Attic", "hidden values": "not shown to you",
		"undone": "undone just now by Ada", "too old": "too old to be undone", "the role": "your role here does not let you undo it",
		"until when": "can be undone until", "everything": "Undo everything since", "what app": "What Claude did",
		"the next page": activityAddress + "?before=9.ef", "long values are cut": strings.Repeat("é", 200) + "…",
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("KE-138 %s: %q is missing", what, want)
		}
	}
	if n := strings.Count(page.body, `/undo" `); n != 2 {
		t.Errorf("KE-138 %d undo forms; want one per undoable line and one for everything", n)
	}
	if !strings.Contains(b.get(t, "/settings/connections").body, `href="`+activityAddress+`"`) {
		t.Error("oauth.md §5 the card does not lead to the activity")
	}
	b.get(t, activityAddress+"?before=9.ef")
	if last := s.activity.asked[len(s.activity.asked)-1]; last.After != "9.ef" || last.Limit != 50 {
		t.Errorf("the next page asks for %+v", last)
	}
	for target, want := range map[string]int{
		"/settings/connections/c9/activity": http.StatusNotFound, "/settings/connections/none/activity": http.StatusNotFound,
		activityAddress + "?before=broken": http.StatusSeeOther, activityAddress + "/undo": http.StatusSeeOther, activityAddress + "/e2/undo": http.StatusSeeOther,
	} {
		if a := b.get(t, target); a.status != want {
			t.Errorf("%s: %d, want %d", target, a.status, want)
		}
	}
	if a := s.browser().get(t, activityAddress); a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/signin") {
		t.Errorf("a stranger: %d", a.status)
	}
}

func TestUndoOnThePage(t *testing.T) {
	t.Parallel()
	s, b := withActivity(t)
	const one = activityAddress + "/e2/undo"
	form := b.get(t, activityAddress).form(t, one)
	for name, headers := range map[string][]string{"another site": {"Sec-Fetch-Site", "cross-site"}, "no token": nil} {
		sent := form
		if headers == nil {
			sent = map[string][]string{"what": {"this"}}
		}
		if a := b.post(t, one, sent, headers...); a.status != http.StatusForbidden || len(s.activity.undone) != 0 {
			t.Errorf("BH-5 %s: %d, %v undone", name, a.status, s.activity.undone)
		}
	}
	if a := b.post(t, activityAddress+"/e1/undo", form); a.status != http.StatusForbidden {
		t.Errorf("BH-5 the token of another line: %d", a.status)
	}
	a := b.post(t, one, form)
	if a.status != http.StatusSeeOther || a.header.Get("Location") != activityAddress+"?done=undone" || len(s.activity.undone) != 1 || s.activity.undone[0] != "e2" {
		t.Fatalf("KE-87 undo: %d %v", a.status, s.activity.undone)
	}
	if by := s.activity.by; by.UserID != "user "+email || by.Actor != home.ActorSession || by.RequestID == "" || by.IP == "" {
		t.Errorf("KE-138 the undo is made by %+v", by)
	}
	if !strings.Contains(b.get(t, a.header.Get("Location")).body, "Undone.") {
		t.Error("the page does not say that it is undone")
	}
	refusal := func(r inventory.UndoReason) error {
		return &inventory.Error{Code: inventory.CodeUndoRefused, Refusals: []inventory.UndoRefusal{{
			EventID: "e2", Reason: r, Fields: []string{"place_id", "custom.watts"}, ChangedBy: &inventory.ActorRef{Type: "connection", ID: "c2", Name: "Eve"},
		}}}
	}
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{refusal(inventory.ReasonNotUndoable), 409, "cannot be undone"},
		{refusal(inventory.ReasonExpired), 409, "more than 7 days old"},
		{refusal(inventory.ReasonAlreadyUndone), 409, "undone already"},
		{refusal(inventory.ReasonChangedSince), 409, "The place and watts were changed since by an app of Eve."},
		{refusal(inventory.ReasonInUse), 409, "Where it came from is gone"},
		{&inventory.Error{Code: inventory.CodeForbidden}, 403, "Your role in the location"},
		{&inventory.Error{Code: inventory.CodeNotFound}, 404, "There is no such change"},
	} {
		s.activity.err = c.err
		a := b.post(t, one, form)
		if a.status != c.status || !strings.Contains(a.body, c.want) || !strings.Contains(a.body, "Not undone. Moved “&lt;b&gt;") {
			t.Errorf("KE-87 %v: %d, %q is missing", c.err, a.status, c.want)
		}
	}
}

func TestUndoEverythingOnThePage(t *testing.T) {
	t.Parallel()
	s, b := withActivity(t)
	page := b.get(t, activityAddress)
	form, one := page.form(t, activityAddress+"/undo"), page.form(t, activityAddress+"/e2/undo")
	s.activity.result = inventory.UndoResult{
		Undone: []inventory.Undone{{UndoOf: "e1"}}, More: true,
		Refused: []inventory.UndoRefusal{{EventID: "e2", Reason: inventory.ReasonChangedSince, Fields: []string{"place_id"}, ChangedBy: &inventory.ActorRef{Type: "user", ID: "u2", Name: "Eve"}}},
	}
	for choice, back := range map[string]time.Duration{"hour": time.Hour, "all": 7 * 24 * time.Hour} {
		form.Set("since", choice)
		a := b.post(t, activityAddress+"/undo", form)
		if a.status != http.StatusOK || !s.activity.since.Equal(s.clock.Now().Add(-back)) || s.activity.undone[len(s.activity.undone)-1] != "c1" {
			t.Errorf("KE-87 everything since %s: %d %v", choice, a.status, s.activity.since)
		}
		for _, want := range []string{"Undone: 1 change.", "There is more", "The place was changed since by Eve."} {
			if !strings.Contains(a.body, want) {
				t.Errorf("KE-87 %q is missing", want)
			}
		}
	}
	form.Set("since", "ever")
	if a := b.post(t, activityAddress+"/undo", form); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "Choose how far back") {
		t.Errorf("an unknown time: %d", a.status)
	}
	one.Set("what", "later")
	if a := b.post(t, activityAddress+"/e2/undo", one); a.status != http.StatusOK || !s.activity.since.Equal(s.activity.entries[0].At) {
		t.Errorf("KE-87 this and all later: %d, since %v", a.status, s.activity.since)
	}
	one.Set("since", "x")
	if a := b.post(t, activityAddress+"/e2/undo", one); a.status != http.StatusUnprocessableEntity {
		t.Errorf("a broken time: %d", a.status)
	}
}

func TestActivityOfATokenOnThePage(t *testing.T) {
	t.Parallel()
	s, b := withActivity(t)
	s.accounts.tokens = []account.PersonalToken{{ID: "t1", Name: "Backup script", Scope: account.TokenWrite, CreatedAt: s.clock.Now()}}
	const page = "/settings/connections/tokens/t1/activity"
	if !strings.Contains(b.get(t, "/settings/connections").body, `href="`+page+`"`) {
		t.Error("the token's card does not lead to its activity")
	}
	first := b.get(t, page)
	form := first.form(t, page+"/e2/undo")
	if !strings.Contains(first.body, "What Backup script did") || strings.Contains(first.body, "not verified") {
		t.Error("a token's page")
	}
	if a := b.post(t, activityAddress+"/e2/undo", form); a.status != http.StatusForbidden {
		t.Errorf("BH-5 the form of another page: %d", a.status)
	}
	if a := b.post(t, page+"/e2/undo", form); a.status != http.StatusSeeOther || a.header.Get("Location") != page+"?done=undone" {
		t.Errorf("KE-87 undo: %d %s", a.status, a.header.Get("Location"))
	}
	all := first.form(t, page+"/undo")
	if a := b.post(t, page+"/undo", all); a.status != http.StatusOK || s.activity.undone[len(s.activity.undone)-1] != "t1" {
		t.Errorf("KE-87 everything of a token: %d %v", a.status, s.activity.undone)
	}
	if err := s.accounts.RevokeToken(t.Context(), "", "t1"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.get(t, "/settings/connections").body, page) || !strings.Contains(b.get(t, page).body, "has ended") {
		t.Error("a revoked token's changes cannot be found")
	}
	if a := b.get(t, "/settings/connections/tokens/none/activity"); a.status != http.StatusNotFound {
		t.Errorf("no such token: %d", a.status)
	}
}

func TestEndedConnectionsKeepTheirActivity(t *testing.T) {
	t.Parallel()
	s, b := withActivity(t)
	if err := s.connections.CloseConnection(t.Context(), "user "+email, "c1", connection.EndedByUser, s.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if body := b.get(t, "/settings/connections").body; !strings.Contains(body, "Ended in the last 7 days") || !strings.Contains(body, activityAddress) {
		t.Error("a disconnected app's changes cannot be found")
	}
	if body := b.get(t, activityAddress).body; !strings.Contains(body, "has ended") || !strings.Contains(body, "/e2/undo") {
		t.Error("a disconnected app's changes cannot be undone")
	}
	s.clock.Advance(8 * 24 * time.Hour)
	if body := s.signedIn(t).get(t, "/settings/connections").body; strings.Contains(body, "Ended in the last 7 days") {
		t.Error("it is listed after its changes can be undone no more")
	}
}
