package web_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"gatehouse/app/connection"
	"gatehouse/app/logo"
	"gatehouse/app/policy"
	"gatehouse/oauth"
	"gatehouse/oauth/oauthtest"
)

// fakePolicy keeps the policy and the registration tokens, whose hashes go to the authorization server's store.
type fakePolicy struct {
	mu     sync.Mutex
	saved  *policy.Policy
	tokens []policy.Token
	memory *oauthtest.Memory
}

func (f *fakePolicy) Policy(context.Context) (*policy.Policy, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.saved == nil {
		return nil, policy.ErrNone
	}
	p := *f.saved
	return &p, nil
}

func (f *fakePolicy) SavePolicy(_ context.Context, p *policy.Policy, _ time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saved = p
	return nil
}

func (f *fakePolicy) InsertRegistrationToken(_ context.Context, t policy.Token, hash []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens = append(f.tokens, t)
	uses, ends := t.MaxUses, t.CreatedAt.Add(time.Hour)
	if uses == 0 {
		uses = 1000
	}
	f.memory.AddInitialToken(hash, uses, ends)
	return nil
}

func (f *fakePolicy) RegistrationTokens(context.Context) ([]policy.Token, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]policy.Token{}, f.tokens...), nil
}

func (f *fakePolicy) RevokeRegistrationTokenByID(_ context.Context, id string, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.tokens {
		if f.tokens[i].ID == id && f.tokens[i].RevokedAt == nil {
			f.tokens[i].RevokedAt = &now
			return nil
		}
	}
	return policy.ErrNone
}

// clientStore shows the clients of the memory store to administrators.
type clientStore struct{ memory *oauthtest.Memory }

func (s clientStore) OAuthClient(ctx context.Context, id string) (*oauth.Client, error) {
	c, err := s.memory.Client(ctx, id)
	if errors.Is(err, oauth.ErrNotFound) {
		return &oauth.Client{ID: id, Kind: oauth.ClientRegistered}, nil // one that only the fake list knows
	}
	return c, err
}

func (s clientStore) SaveClientSettings(ctx context.Context, id string, settings oauth.ClientSettings) error {
	if _, err := s.memory.Client(ctx, id); err != nil {
		return connection.ErrNotFound
	}
	s.memory.ChangeClient(id, func(c *oauth.Client) { c.Settings = settings })
	return nil
}

func (s clientStore) DecideClient(ctx context.Context, id string, since, blocked *time.Time) error {
	c, err := s.OAuthClient(ctx, id)
	if err != nil {
		return err
	}
	if c.PendingAt == nil || since != nil && !since.Equal(*c.PendingAt) {
		return connection.ErrNotFound
	}
	s.memory.ChangeClient(id, func(c *oauth.Client) { c.PendingAt, c.BlockedAt = nil, blocked })
	return nil
}

func (s clientStore) WaitingClients(context.Context) ([]*oauth.Client, error) {
	return s.memory.ClientsWhere(func(c *oauth.Client) bool { return c.PendingAt != nil }), nil
}

// fakeLogos has one logo.
type fakeLogos struct{ picture []byte }

func (f *fakeLogos) Get(_ context.Context, of logo.Of) ([]byte, error) {
	if of.URI == "" || f.picture == nil {
		return nil, logo.ErrNone
	}
	return f.picture, nil
}

// fakeDocuments serves client documents.
type fakeDocuments struct {
	mu    sync.Mutex
	byURL map[string]string
}

func (f *fakeDocuments) set(url, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.byURL[url] = body
}

func (f *fakeDocuments) FetchDocument(_ context.Context, url, _ string) (*oauth.FetchedDocument, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, ok := f.byURL[url]
	if !ok {
		return &oauth.FetchedDocument{Status: 404}, nil
	}
	return &oauth.FetchedDocument{Status: 200, ContentType: "application/json", Body: []byte(body)}, nil
}

func (f *fakeDocuments) FetchKeySet(ctx context.Context, url string) (*oauth.FetchedDocument, error) {
	return f.FetchDocument(ctx, url, "")
}

func (f *fakeClients) add(id, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, connection.KnownClient{ID: id, Name: name, Kind: "dynamic"})
}
