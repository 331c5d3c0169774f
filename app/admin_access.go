package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/connection"
)

// NewToken is a personal token to make. No locations means all of the person's.
type NewToken struct {
	User, Scope, Name string
	Locations         []string
	Expires           time.Duration
}

// Token is a personal token as the commands show it. Secret is set only when it was just made.
type Token struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Lookup     string     `json:"lookup"`
	Scope      string     `json:"scope"`
	Locations  []string   `json:"location_ids"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	Ended      string     `json:"ended,omitempty"`
	Secret     string     `json:"secret,omitempty"`
}

func tokenOf(t account.PersonalToken) Token {
	return Token{ID: t.ID, Name: t.Name, Lookup: t.Lookup, Scope: t.Scope, Locations: t.LocationIDs, ExpiresAt: t.ExpiresAt,
		CreatedAt: t.CreatedAt, LastUsedAt: t.LastUsedAt, Ended: t.EndedReason}
}

// AddToken makes a personal token.
func (a *Admin) AddToken(ctx context.Context, n NewToken) (Token, error) {
	if n.Expires < 0 {
		return Token{}, &UsageError{Message: "--expires must not be negative"}
	}
	p, err := a.enabledPerson(ctx, n.User)
	if err != nil {
		return Token{}, err
	}
	t := account.NewToken{Name: n.Name, Scope: n.Scope, ConfirmCrossLocation: true}
	if t.LocationIDs, err = a.locationsFor(ctx, p, n.Locations); err != nil {
		return Token{}, err
	}
	if n.Expires > 0 {
		at := a.c.now().Add(n.Expires)
		t.ExpiresAt = &at
	}
	made, err := a.c.accounts.CreateToken(ctx, p.ID, t)
	if err != nil {
		return Token{}, err
	}
	out := tokenOf(made.Token)
	out.Secret = made.Secret
	return out, nil
}

// locationsFor checks that the ids are the person's locations; no ids means all of them.
func (a *Admin) locationsFor(ctx context.Context, p *account.Person, ids []string) ([]string, error) {
	list, err := a.c.homes.LocationsOf(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	var theirs, words []string
	for _, m := range list {
		theirs = append(theirs, m.Location.ID)
		words = append(words, PlainText(m.Location.Name)+" "+m.Location.ID)
	}
	if len(ids) == 0 {
		return theirs, nil
	}
	for _, id := range ids {
		if !slices.Contains(theirs, id) {
			return nil, fmt.Errorf("%s has no location %q; theirs: %s", PlainText(p.Email), PlainText(id), strings.Join(words, ", "))
		}
	}
	return ids, nil
}

// Tokens lists a person's personal tokens.
func (a *Admin) Tokens(ctx context.Context, email string) ([]Token, error) {
	p, err := a.person(ctx, email)
	if err != nil {
		return nil, err
	}
	list, err := a.c.accounts.Tokens(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	out := make([]Token, len(list))
	for i := range list {
		out[i] = tokenOf(list[i])
	}
	return out, nil
}

// RevokeToken ends a personal token.
func (a *Admin) RevokeToken(ctx context.Context, id string) error {
	err := missing(a.c.accounts.RevokeTokenAsAdmin(ctx, id), "token", id, "token list --user ADDRESS")
	return a.recorded(ctx, err, audit.Entry{Action: audit.TokenRevoked, Detail: map[string]string{"token": id}})
}

// Connection is a connection as the commands show it.
type Connection struct {
	ID         string   `json:"id"`
	User       string   `json:"user"`
	ClientID   string   `json:"client_id"`
	ClientName string   `json:"client_name"`
	ClientHost string   `json:"client_host,omitempty"`
	Resource   string   `json:"resource"`
	Scopes     []string `json:"scopes"`
	Locations  []string `json:"location_ids"`
	// AuthorizationDetails bind the tools, HiddenTools are those that the person unticked.
	AuthorizationDetails json.RawMessage `json:"authorization_details,omitempty"`
	HiddenTools          []string        `json:"hidden_tools,omitempty"`

	CreatedAt   time.Time  `json:"created_at"`
	LastUsedAt  *time.Time `json:"last_used_at,omitempty"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	EndedReason string     `json:"ended_reason,omitempty"`
}

// ConnectionFilter says which connections to list. Empty fields do not narrow.
type ConnectionFilter struct {
	// User is an e-mail address, Client an id or a part of a name, Host the verified host of a client's description.
	User, Client, Host string
	// All lists ended ones too.
	All bool
}

// Connections lists connections, the newest first.
func (a *Admin) Connections(ctx context.Context, q ConnectionFilter) ([]Connection, error) {
	f := connection.Filter{Client: q.Client, Host: q.Host, Ended: q.All}
	if q.User != "" {
		p, err := a.person(ctx, q.User)
		if err != nil {
			return nil, err
		}
		f.UserID = p.ID
	}
	list, err := a.c.connections.ListAll(ctx, f)
	if err != nil {
		return nil, err
	}
	out := make([]Connection, len(list))
	for i := range list {
		if out[i], err = connectionOf(&list[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func connectionOf(c *connection.Connection) (Connection, error) {
	out := Connection{ID: c.ID, User: c.UserEmail, ClientID: c.Client.ID, ClientName: c.Client.Name, ClientHost: c.Client.Host,
		Resource: c.Resource, Scopes: c.Scopes, CreatedAt: c.CreatedAt, ExpiresAt: c.ExpiresAt, EndedAt: c.EndedAt, EndedReason: c.EndedReason}
	for _, l := range c.Locations {
		out.Locations = append(out.Locations, l.ID)
	}
	if c.LastUsed != nil {
		out.LastUsedAt = &c.LastUsed.At
	}
	out.HiddenTools = c.HiddenTools
	if c.Tools.Open() {
		return out, nil
	}
	var err error
	out.AuthorizationDetails, err = c.Tools.Details(c.Resource)
	return out, err
}

// EndConnection ends a connection.
func (a *Admin) EndConnection(ctx context.Context, id string) error {
	err := missing(a.c.connections.End(ctx, id), "connection", id, "connection list --all")
	if err != nil {
		return err
	}
	entry := audit.Entry{Action: audit.ConnectionEnded, ConnectionID: id}
	if list, err := a.c.connections.ListAll(ctx, connection.Filter{ID: id, Ended: true}); err == nil && len(list) == 1 {
		entry.PersonID, entry.ClientID = list[0].UserID, list[0].Client.ID
	}
	a.record(ctx, entry)
	return nil
}
