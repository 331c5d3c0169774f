package oauthtest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"gatehouse/oauth"
)

// Memory keeps everything in maps behind one lock, which makes every method one atomic step. It implements all the
// stores of package oauth.
type Memory struct {
	mu          sync.Mutex
	users       map[string]bool // id → disabled
	signedOut   map[string]bool // by the name of the sign-in
	clients     map[string]*oauth.Client
	requests    map[string]*oauth.AuthorizationRequest // by hash of the id
	pushed      map[string]*oauth.PushedRequest        // by hash of the id
	codes       map[string]*oauth.AuthorizationCode    // by hash
	connections map[string]*oauth.Connection
	families    map[string]*oauth.Family
	refresh     map[string]*oauth.RefreshToken  // by hash
	revoked     map[string]time.Time            // jti → expiry
	access      map[string]*oauth.StoredToken   // by hash
	assertions  map[string]time.Time            // by hash → expiry
	proofs      map[string]time.Time            // hash → expiry
	devices     map[string]*oauth.DeviceRequest // by hash
	issuers     map[string]oauth.TrustedIssuer
	origins     map[string]string        // family of a direct grant → grant type
	barred      map[string]bool          // connections that ended by hand
	initial     map[string]*initialToken // by hash
	keys        []oauth.SigningKey
	fail        error
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		users:       map[string]bool{},
		signedOut:   map[string]bool{},
		clients:     map[string]*oauth.Client{},
		requests:    map[string]*oauth.AuthorizationRequest{},
		pushed:      map[string]*oauth.PushedRequest{},
		codes:       map[string]*oauth.AuthorizationCode{},
		connections: map[string]*oauth.Connection{},
		families:    map[string]*oauth.Family{},
		refresh:     map[string]*oauth.RefreshToken{},
		revoked:     map[string]time.Time{},
		access:      map[string]*oauth.StoredToken{},
		assertions:  map[string]time.Time{},
		proofs:      map[string]time.Time{},
		devices:     map[string]*oauth.DeviceRequest{},
		issuers:     map[string]oauth.TrustedIssuer{},
		origins:     map[string]string{},
		barred:      map[string]bool{},
		initial:     map[string]*initialToken{},
	}
}

// Stores returns the store in all its roles.
func (m *Memory) Stores() oauth.Stores {
	return oauth.Stores{Clients: m, Requests: m, Codes: m, Tokens: m, Keys: m, Proofs: m, Grants: m, Devices: m, Issuers: m}
}

// Fail makes every following call return err, as a database that is down would. Nil ends that.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

// AddUser makes a person known who may sign in.
func (m *Memory) AddUser(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users[id] = false
}

// DisableUser takes a person's right to sign in.
func (m *Memory) DisableUser(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users[id] = true
}

// EndSignIn ends a sign-in: codes that were decided through it are not stored any more.
func (m *Memory) EndSignIn(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.signedOut[name] = true
}

// Revoked reports whether RevokeAccessToken was called for this token id.
func (m *Memory) Revoked(jti string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.revoked[jti]
	return ok
}

// Connection returns a copy of the connection, or nil.
func (m *Memory) Connection(id string) *oauth.Connection {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.connections[id]; c != nil {
		return copyConnection(c)
	}
	return nil
}

// Family returns a copy of the family, or nil.
func (m *Memory) Family(id string) *oauth.Family {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.families[id]; f != nil {
		c := *f
		return &c
	}
	return nil
}

// lock takes the lock and reports the failure set with Fail or that of the context.
func (m *Memory) lock(ctx context.Context) (unlock func(), err error) {
	m.mu.Lock()
	if err = m.fail; err == nil {
		err = ctx.Err()
	}
	if err != nil {
		m.mu.Unlock()
		return nil, err
	}
	return m.mu.Unlock, nil
}

// SaveRequest implements oauth.RequestStore.
func (m *Memory) SaveRequest(ctx context.Context, r *oauth.AuthorizationRequest) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c := copyRequest(r)
	c.ID = ""
	m.requests[string(oauth.HashSecret(r.ID))] = c
	return nil
}

// Request implements oauth.RequestStore.
func (m *Memory) Request(ctx context.Context, id string) (*oauth.AuthorizationRequest, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r := m.requests[string(oauth.HashSecret(id))]
	if r == nil {
		return nil, oauth.ErrNotFound
	}
	c := copyRequest(r)
	c.ID = id
	return c, nil
}

// DecideRequest implements oauth.RequestStore.
func (m *Memory) DecideRequest(ctx context.Context, id, outcome string, at time.Time, code *oauth.AuthorizationCode) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	r := m.requests[string(oauth.HashSecret(id))]
	switch {
	case r == nil:
		return oauth.ErrNotFound
	case r.DecidedAt != nil:
		return oauth.ErrUsed
	case code != nil && m.signedOut[code.SignIn]:
		return oauth.ErrEnded
	}
	r.DecidedAt, r.Outcome = &at, outcome
	if code != nil {
		r.DecidedBy, r.AnswerSealed = code.SignIn, slices.Clone(code.AnswerSealed)
		m.codes[string(code.Hash)] = copyCode(code)
	}
	return nil
}

func copyRequest(r *oauth.AuthorizationRequest) *oauth.AuthorizationRequest {
	c := *r
	c.Parameters, c.BrowserHash = copyParameters(r.Parameters), slices.Clone(r.BrowserHash)
	return &c
}

func copyParameters(parameters map[string][]string) map[string][]string {
	c := make(map[string][]string, len(parameters))
	for name, values := range parameters {
		c[name] = slices.Clone(values)
	}
	return c
}

func copyCode(code *oauth.AuthorizationCode) *oauth.AuthorizationCode {
	c := *code
	c.Approval.Scopes = slices.Clone(code.Approval.Scopes)
	c.Approval.Terms = slices.Clone(code.Approval.Terms)
	c.Approval.Details = slices.Clone(code.Approval.Details)
	c.SignIn, c.AnswerSealed = "", nil // they are the request's
	return &c
}

func copyConnection(connection *oauth.Connection) *oauth.Connection {
	c := *connection
	c.Scopes = slices.Clone(connection.Scopes)
	c.Terms = slices.Clone(connection.Terms)
	c.Details = slices.Clone(connection.Details)
	return &c
}

// Client implements oauth.ClientStore.
func (m *Memory) Client(ctx context.Context, id string) (*oauth.Client, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c := m.clients[id]; c != nil {
		return copyClient(c), nil
	}
	return nil, oauth.ErrNotFound
}

// SaveClient implements oauth.ClientStore.
func (m *Memory) SaveClient(ctx context.Context, client *oauth.Client) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c := copyClient(client)
	c.DeviceGrant = false
	if old := m.clients[c.ID]; old != nil {
		c.CreatedAt, c.DeviceGrant = old.CreatedAt, old.DeviceGrant
		c.RegistrationHash, c.PendingAt, c.Settings = old.RegistrationHash, old.PendingAt, old.Settings
	}
	m.clients[c.ID] = c
	return nil
}

// TouchClient implements oauth.ClientStore.
func (m *Memory) TouchClient(ctx context.Context, id string, at time.Time) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if c := m.clients[id]; c != nil {
		c.LastSeenAt = at
	}
	return nil
}

// CountClients implements oauth.ClientStore.
func (m *Memory) CountClients(ctx context.Context, kind oauth.ClientKind) (int, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	n := 0
	for _, c := range m.clients {
		if c.Kind == kind {
			n++
		}
	}
	return n, nil
}

// ClientHasConnection implements oauth.ClientStore.
func (m *Memory) ClientHasConnection(ctx context.Context, id string) (bool, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	for _, c := range m.connections {
		if c.ClientID == id && c.EndedAt == nil {
			return true, nil
		}
	}
	return false, nil
}

// UseAssertion implements oauth.ClientStore.
func (m *Memory) UseAssertion(ctx context.Context, hash []byte, expires time.Time) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, used := m.assertions[string(hash)]; used {
		return oauth.ErrUsed
	}
	m.assertions[string(hash)] = expires
	return nil
}

// DeleteUnusedClients implements oauth.ClientStore.
func (m *Memory) DeleteUnusedClients(ctx context.Context, before time.Time) (int, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	used := map[string]bool{}
	for _, c := range m.connections {
		used[c.ClientID] = true
	}
	size := len(m.clients)
	maps.DeleteFunc(m.clients, func(id string, c *oauth.Client) bool {
		return c.Kind != oauth.ClientRegistered && c.CreatedAt.Before(before) && !used[id]
	})
	return size - len(m.clients), nil
}

func copyClient(client *oauth.Client) *oauth.Client {
	c := *client
	c.SecretHash = slices.Clone(client.SecretHash)
	c.AuthMethods = slices.Clone(client.AuthMethods)
	c.RedirectURIs = slices.Clone(client.RedirectURIs)
	c.GrantTypes = slices.Clone(client.GrantTypes)
	c.ResponseTypes = slices.Clone(client.ResponseTypes)
	c.Contacts = slices.Clone(client.Contacts)
	c.JWKS = slices.Clone(client.JWKS)
	c.RegistrationHash, c.Changes = slices.Clone(client.RegistrationHash), maps.Clone(client.Changes)
	if client.Document != nil {
		d := *client.Document
		d.Digest = slices.Clone(d.Digest)
		c.Document = &d
	}
	return &c
}
