package web_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/app/limit"
	"gatehouse/web"
)

const (
	email    = "ada@example.org"
	password = "seven quiet otters swim home"
	homeID   = "0195c1a2-0000-7000-8000-000000000001"
	shopID   = "0195c1a2-0000-7000-8000-000000000002"
	foreign  = "0195c1a2-0000-7000-8000-00000000000f"
)

// fakeAccounts is the domain of people in memory, without hashing.
type fakeAccounts struct {
	fakeFactors
	mu       sync.Mutex
	now      func() time.Time
	password map[string]string // by address
	sessions map[string]*account.Session
	tokens   []account.PersonalToken
	setup    string
	reset    string
	limited  bool
	// strongest is what StrongestSignIn says, methods how the next session is made.
	strongest string
	methods   []string
	made      int
	down      error
	noted     []string
	refuse    error
}

// fakeFactors is people who have nothing but a password.
type everyFactor = web.Factors

type fakeFactors struct{ everyFactor }

func (fakeFactors) Factors(context.Context, string) (*account.Factors, error) {
	return &account.Factors{Password: true}, nil
}

func (fakeFactors) PasskeysPossible() bool { return false }

func (fakeFactors) BeginPasskeySignIn(context.Context, string) (*account.PasskeyRequest, error) {
	return nil, account.ErrNoPasskeys
}

func (fakeFactors) SignInByPasskey(context.Context, string, string, string, account.Device) (*account.Session, string, error) {
	return nil, "", account.ErrPasskey
}

func (fakeFactors) PendingSignIn(context.Context, string) (*account.Person, error) {
	return nil, account.ErrNotFound
}

func (fakeFactors) CompleteSignIn(context.Context, string, string, account.Device) (*account.Session, string, error) {
	return nil, "", account.ErrNotFound
}

func (fakeFactors) CancelSignIn(context.Context, string) error { return nil }

func (f *fakeAccounts) person(email string) account.Person {
	return account.Person{ID: "user " + email, Email: email, Name: "Ada Lovelace", Admin: email == adminEmail}
}

func (f *fakeAccounts) People(context.Context) ([]account.Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []account.Person
	for email := range f.password {
		out = append(out, f.person(email))
	}
	return out, f.down
}

func (f *fakeAccounts) StrongestSignIn(context.Context, string) (string, error) {
	if f.strongest == "" {
		return account.StrengthSingle, f.down
	}
	return f.strongest, f.down
}

func (f *fakeAccounts) open(p account.Person, from account.Device) (*account.Session, string, error) {
	f.made++
	now := f.now()
	s := &account.Session{ID: fmt.Sprint("s", f.made), UserID: p.ID, Person: p, AuthTime: now, AMR: f.methods, CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(7 * 24 * time.Hour), Device: from}
	secret := fmt.Sprintf("secret-%d", f.made)
	f.sessions[secret] = s
	return s, secret, nil
}

func (f *fakeAccounts) SignIn(_ context.Context, email, password string, from account.Device) (*account.Session, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limited {
		return nil, "", &limit.Exceeded{RetryAfter: 30 * time.Second}
	}
	if want, ok := f.password[email]; !ok || want != password {
		return nil, "", account.ErrWrongCredentials
	}
	return f.open(f.person(email), from)
}

func (f *fakeAccounts) SessionBySecret(_ context.Context, secret string) (*account.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down != nil {
		return nil, f.down
	}
	if s, ok := f.sessions[secret]; ok {
		return s, nil
	}
	return nil, account.ErrNotFound
}

func (f *fakeAccounts) SignOut(_ context.Context, secret string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, secret)
	return nil
}

func (f *fakeAccounts) ChangePassword(_ context.Context, s *account.Session, current, next string, from account.Device) (*account.Session, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.password[s.Person.Email] != current:
		return nil, "", account.ErrWrongCredentials
	case len(next) < 15:
		return nil, "", account.Refuse(account.CodeValidation, "password", "must be at least 15 characters")
	}
	f.password[s.Person.Email] = next
	clear(f.sessions)
	return f.open(s.Person, from)
}

func (f *fakeAccounts) Sessions(_ context.Context, userID string) ([]account.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []account.Session
	for _, s := range f.sessions {
		if s.UserID == userID {
			out = append(out, *s)
		}
	}
	slices.SortFunc(out, func(a, b account.Session) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func (f *fakeAccounts) endWhere(match func(*account.Session) bool) int {
	n := 0
	for secret, s := range f.sessions {
		if match(s) {
			delete(f.sessions, secret)
			n++
		}
	}
	return n
}

func (f *fakeAccounts) EndSession(_ context.Context, userID, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.endWhere(func(s *account.Session) bool { return s.UserID == userID && s.ID == id }) == 0 {
		return account.ErrNotFound
	}
	return nil
}

func (f *fakeAccounts) EndOtherSessions(_ context.Context, userID, keepID string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endWhere(func(s *account.Session) bool { return s.UserID == userID && s.ID != keepID })
	return nil
}

func (f *fakeAccounts) CheckSetup(_ context.Context, token string) error {
	if f.setup == "" || token != f.setup {
		return account.ErrLinkGone
	}
	return nil
}

func (f *fakeAccounts) CompleteSetup(ctx context.Context, token string, n account.NewPerson) (*account.Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.CheckSetup(ctx, token); err != nil {
		return nil, err
	}
	if len(n.Password) < 15 {
		return nil, account.Refuse(account.CodeValidation, "password", "must be at least 15 characters")
	}
	f.setup, f.password[n.Email] = "", n.Password
	p := f.person(n.Email)
	return &p, nil
}

func (f *fakeAccounts) CheckReset(_ context.Context, token string) (*account.Person, error) {
	if f.reset == "" || token != f.reset {
		return nil, account.ErrLinkGone
	}
	p := f.person(email)
	return &p, nil
}

func (f *fakeAccounts) CompleteReset(ctx context.Context, token, password string, _ bool) (*account.Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.CheckReset(ctx, token)
	if err != nil {
		return nil, err
	}
	f.reset, f.password[p.Email] = "", password
	clear(f.sessions)
	return p, nil
}

func (f *fakeAccounts) Tokens(context.Context, string) ([]account.PersonalToken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.tokens), nil
}

func (f *fakeAccounts) CreateToken(_ context.Context, userID string, n account.NewToken) (*account.CreatedToken, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(n.LocationIDs) > 1 && n.Scope == account.TokenWrite && !n.ConfirmCrossLocation {
		return nil, account.Refuse(account.CodeCrossLocationWrite, "confirm_cross_location", "Different people share these locations.")
	}
	if len(n.LocationIDs) == 0 {
		return nil, account.Refuse(account.CodeValidation, "location_ids", "must name 1 to 100 locations")
	}
	t := account.PersonalToken{ID: "t1", UserID: userID, Name: n.Name, Lookup: "Ab3dE5fG", Scope: n.Scope, LocationIDs: n.LocationIDs, ExpiresAt: n.ExpiresAt, CreatedAt: f.now()}
	f.tokens = append(f.tokens, t)
	return &account.CreatedToken{Token: t, Secret: "gth_Ab3dE5fG_" + strings.Repeat("x", 43)}, nil
}

func (f *fakeAccounts) RevokeToken(_ context.Context, _, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.tokens {
		if f.tokens[i].ID == id {
			now := f.now()
			f.tokens[i].EndedAt = &now
			return nil
		}
	}
	return account.ErrNotFound
}

// fakeHomes gives everybody the same two locations.
type fakeHomes struct{}

func (fakeHomes) Choices(context.Context, string) ([]home.Access, error) {
	return []home.Access{{LocationID: homeID, Name: "Home", Role: home.Owner}, {LocationID: shopID, Name: "Workshop", Role: home.Viewer}}, nil
}

func (fakeHomes) LocationsOf(context.Context, string) ([]home.Membership, error) {
	return []home.Membership{
		{Location: home.Location{ID: homeID, Name: "Home"}, Role: home.Owner},
		{Location: home.Location{ID: shopID, Name: "Workshop"}, Role: home.Viewer},
	}, nil
}

func (fakeHomes) PrincipalOfPerson(_ context.Context, p account.Person) (*home.Principal, error) {
	return &home.Principal{UserID: p.ID, Actor: home.ActorSession, Locations: []home.Access{{LocationID: homeID, Name: "Home", Role: home.Owner}}}, nil
}

// fakeThings is one thing, and what asking for others comes to.
type fakeThings struct {
	thing inventory.ThingDetail
	err   error
}

func (f *fakeThings) GetThing(_ context.Context, p *home.Principal, at inventory.At, id string) (inventory.ThingDetail, error) {
	ref, ok := inventory.ParseRef(id)
	switch {
	case f.err != nil:
		return inventory.ThingDetail{}, f.err
	case !ok:
		return inventory.ThingDetail{}, &inventory.Error{Code: inventory.CodeValidation, Hint: "thing_id: must be an id"}
	case p.UserID != "user "+email || at.LocationID != "" || ref.ID != f.thing.ID && ref.Code != f.thing.ShortCode:
		return inventory.ThingDetail{}, &inventory.Error{Code: inventory.CodeNotFound, Hint: "Nothing with this id or code is here."}
	}
	return f.thing, nil
}

// fakeConnections keeps connections for the real service of package connection.
type fakeConnections struct {
	mu   sync.Mutex
	list []connection.Connection
}

func (f *fakeConnections) add(c connection.Connection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, c)
}

func (f *fakeConnections) ListConnections(_ context.Context, q connection.Filter, now time.Time) ([]connection.Connection, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []connection.Connection
	for _, c := range f.list {
		if (q.UserID == "" || c.UserID == q.UserID) && (q.ID == "" || c.ID == q.ID) && (q.ClientID == "" || c.Client.ID == q.ClientID) && (q.Ended || c.Live(now)) &&
			(q.Client == "" || strings.Contains(c.Client.Name, q.Client)) && (q.Host == "" || c.Client.Host == q.Host) {
			out = append(out, c)
		}
	}
	return out, nil
}

func (f *fakeConnections) change(userID, id string, fn func(*connection.Connection)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		if (userID == "" || f.list[i].UserID == userID) && f.list[i].ID == id && f.list[i].EndedAt == nil {
			fn(&f.list[i])
			return nil
		}
	}
	return connection.ErrNotFound
}

func (f *fakeConnections) EditConnection(_ context.Context, userID, id string, e connection.Edit, _ string, _ time.Time) error {
	return f.change(userID, id, func(c *connection.Connection) {
		c.Scopes, c.HiddenTools, c.Locations, c.ExpiresAt, c.Tools = e.Scopes, e.Terms.HiddenTools, nil, e.ExpiresAt, e.Tools
		for _, l := range e.Terms.Locations {
			c.Locations = append(c.Locations, connection.Location{ID: l, Name: l})
		}
	})
}

func (f *fakeConnections) CloseConnection(_ context.Context, userID, id, reason string, now time.Time) error {
	return f.change(userID, id, func(c *connection.Connection) { c.EndedAt, c.EndedReason = &now, reason })
}

func (f *fakeConnections) CloseInstallation(_ context.Context, userID, id, _ string, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		for j := range f.list[i].Installations {
			if n := &f.list[i].Installations[j]; (userID == "" || f.list[i].UserID == userID) && n.ID == id {
				n.EndedAt = &now
				return nil
			}
		}
	}
	return connection.ErrNotFound
}

func (f *fakeConnections) MemberLocations(context.Context, string) ([]connection.Location, error) {
	return []connection.Location{{ID: homeID, Name: "Home"}, {ID: shopID, Name: "Workshop"}}, nil
}

// fakeAttempts is one attempt that failed.
type fakeAttempts struct {
	anyAttempts
	at time.Time
}

func (f fakeAttempts) AttemptsOf(context.Context, string) ([]web.Attempt, error) {
	return []web.Attempt{{App: "ChatGPT", StartedAt: f.at, Failed: true, Steps: []web.AttemptStep{
		{Title: "The app's request was checked", At: f.at, Failed: true, Reason: "The redirect_uri is not registered.", Advice: "Remove the connector."},
	}}}, nil
}

// attemptList is attempts of everybody.
type attemptList struct {
	anyAttempts
	list []web.Attempt
}

func (l attemptList) AttemptsOf(context.Context, string) ([]web.Attempt, error) { return l.list, nil }

// events collects what was observed.
type events struct {
	mu   sync.Mutex
	list []web.Event
}

func (e *events) ObserveEvent(_ context.Context, event web.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, event)
}

func (e *events) find(step string) *web.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.list {
		if e.list[i].Step == step {
			return &e.list[i]
		}
	}
	return nil
}
