package web_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/app/trust"
	"gatehouse/web"
)

// adminEmail is the address of the administrator.
const adminEmail = "root@example.org"

// fakeIssuers keeps trusted issuers in memory.
type fakeIssuers struct {
	mu   sync.Mutex
	list []trust.Issuer
}

func (f *fakeIssuers) InsertIssuer(_ context.Context, i trust.Issuer) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.ContainsFunc(f.list, func(o trust.Issuer) bool { return o.Issuer == i.Issuer }) {
		return false, nil
	}
	f.list = append(f.list, i)
	return true, nil
}

func (f *fakeIssuers) Issuers(context.Context) ([]trust.Issuer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list), nil
}

func (f *fakeIssuers) IssuerBy(context.Context, string) (*trust.Issuer, error) {
	return nil, trust.ErrNotFound
}

func (f *fakeIssuers) DeleteIssuer(_ context.Context, issuer string, _ time.Time) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.list)
	f.list = slices.DeleteFunc(f.list, func(o trust.Issuer) bool { return o.Issuer == issuer })
	return len(f.list) < n, nil
}

// fakeAudit keeps audit entries in memory.
type fakeAudit struct {
	mu   sync.Mutex
	list []audit.Entry
}

func (f *fakeAudit) InsertAudit(_ context.Context, e audit.Entry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, e)
	return nil
}

func (f *fakeAudit) ListAudit(_ context.Context, q audit.Filter) ([]audit.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []audit.Entry
	for _, e := range slices.Backward(f.list) {
		about := q.PersonID == "" || e.PersonID == q.PersonID || e.ActorID == q.PersonID
		what := q.Action == "" || e.Action == q.Action || strings.HasPrefix(e.Action, q.Action+".")
		when := (q.From.IsZero() || !e.At.Before(q.From)) && (q.Until.IsZero() || e.At.Before(q.Until))
		if about && what && when && (q.Before == "" || e.ID < q.Before) && len(out) < q.Limit {
			out = append(out, e)
		}
	}
	return out, nil
}

func (f *fakeAudit) SweepAudit(context.Context, time.Time) (int, error) { return 0, nil }

func (f *fakeAudit) actions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, e := range f.list {
		out = append(out, e.Action)
	}
	return out
}

func (f *fakeAccounts) PersonByEmail(_ context.Context, email string) (*account.Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.password[email]; !ok {
		return nil, account.ErrNotFound
	}
	p := f.person(email)
	return &p, nil
}

func (f *fakeAccounts) PersonByID(_ context.Context, id string) (*account.Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for email := range f.password {
		if p := f.person(email); p.ID == id {
			return &p, f.down
		}
	}
	return nil, account.ErrNotFound
}

func (f *fakeAccounts) ListPeople(_ context.Context, q account.PeopleFilter) ([]account.Person, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []account.Person
	for email := range f.password {
		p := f.person(email)
		if strings.Contains(p.Email, q.Text) && (!q.Administrators || p.Admin) && (!q.Disabled || p.Disabled()) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b account.Person) int { return strings.Compare(a.Email, b.Email) })
	all = all[min(q.Offset, len(all)):]
	return all[:min(len(all), q.Limit)], len(all) > q.Limit, nil
}

func (f *fakeAccounts) AddWithLink(_ context.Context, n account.NewPerson) (*account.Person, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, taken := f.password[n.Email]; taken {
		return nil, "", account.ErrEmailTaken
	}
	f.password[n.Email] = password
	p := f.person(n.Email)
	return &p, "https://home.example/reset?token=gsr_new", nil
}

func (f *fakeAccounts) ResetLink(context.Context, string) (string, error) {
	return "https://home.example/reset?token=gsr_again", nil
}

// note notes what was done about a person.
func (f *fakeAccounts) note(what, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, what+" "+id)
	return f.refuse
}

func (f *fakeAccounts) DisablePerson(_ context.Context, id string) error {
	return f.note("disable", id)
}
func (f *fakeAccounts) EnablePerson(_ context.Context, id string) error { return f.note("enable", id) }
func (f *fakeAccounts) SetAdministrator(_ context.Context, id string, admin bool) error {
	if admin {
		return f.note("promote", id)
	}
	return f.note("demote", id)
}

// fakeClients is the clients of administrators.
type fakeClients struct {
	mu    sync.Mutex
	list  []connection.KnownClient
	noted []string
	added []connection.NewClient
}

func (f *fakeClients) Find(_ context.Context, q connection.ClientFilter) ([]connection.KnownClient, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []connection.KnownClient
	for _, k := range f.list {
		if strings.Contains(k.Name, q.Text) && (q.Kind == "" || k.Kind == q.Kind) && (!q.Blocked || k.BlockedAt != nil) {
			out = append(out, k)
		}
	}
	out = out[min(q.Offset, len(out)):]
	return out[:min(len(out), q.Limit)], len(out) > q.Limit, nil
}

func (f *fakeClients) Get(_ context.Context, id string) (*connection.KnownClient, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		if f.list[i].ID == id {
			k := f.list[i]
			return &k, nil
		}
	}
	return nil, connection.ErrNotFound
}

func (f *fakeClients) note(what, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.noted = append(f.noted, what+" "+id)
	return nil
}

func (f *fakeClients) Block(_ context.Context, id string) error   { return f.note("block", id) }
func (f *fakeClients) Unblock(_ context.Context, id string) error { return f.note("unblock", id) }
func (f *fakeClients) Delete(_ context.Context, id string) error  { return f.note("delete", id) }

func (f *fakeClients) Add(_ context.Context, n connection.NewClient) (string, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(n.RedirectURIs) == 0 {
		return "", "", &connection.Invalid{Field: "redirect_uris", Message: "A client needs a name and at least one redirect URI."}
	}
	f.added = append(f.added, n)
	f.list = append(f.list, connection.KnownClient{ID: "new", Name: n.Name, Kind: "registered"})
	if n.Confidential {
		return "new", "the-secret", nil
	}
	return "new", "", nil
}

// anyAttempts is the record of everybody's attempts; it stands behind every fake of a person's own.
type anyAttempts struct{}

const attemptID = "0195c1a2-0000-7000-8000-0000000000aa"

func (anyAttempts) AttemptsStamp(context.Context, string) (string, error) { return "1", nil }

func (anyAttempts) FindAttempts(_ context.Context, q web.AttemptFilter) ([]web.AnyAttempt, bool, error) {
	if q.PersonID != "" && q.PersonID != "user "+email || q.Client != "" && q.Client != "ChatGPT" {
		return nil, false, nil
	}
	return []web.AnyAttempt{{Attempt: web.Attempt{ID: attemptID, App: "ChatGPT", Failed: true}, Person: email, Reason: "The redirect_uri is not registered."}}, false, nil
}

func (anyAttempts) FindAttempt(_ context.Context, id string) (*web.AnyAttempt, error) {
	if id != attemptID && id != "request-1" {
		return nil, web.ErrNoAttempt
	}
	return &web.AnyAttempt{Attempt: web.Attempt{ID: attemptID, App: "ChatGPT", Failed: true, Steps: []web.AttemptStep{
		{Title: "The app's request was refused", Failed: true, Reason: "The redirect_uri is not registered.", Advice: "Remove the connector."}}},
		Person: email, PersonID: "user " + email, ClientID: "https://app.example/client.json", ConnectionID: foreign, Address: "192.0.2.7"}, nil
}
