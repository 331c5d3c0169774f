package policy_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/app/policy"
	"gatehouse/oauth"
)

// store keeps what it is given.
type store struct {
	saved  *policy.Policy
	hashes [][]byte
	fail   error
}

func (s *store) Policy(context.Context) (*policy.Policy, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	if s.saved == nil {
		return nil, policy.ErrNone
	}
	return s.saved, nil
}

func (s *store) SavePolicy(_ context.Context, p *policy.Policy, _ time.Time) error {
	s.saved = p
	return nil
}

func (s *store) InsertRegistrationToken(_ context.Context, _ policy.Token, hash []byte) error {
	s.hashes = append(s.hashes, hash)
	return nil
}

func (s *store) RegistrationTokens(context.Context) ([]policy.Token, error) { return nil, nil }

func (s *store) RevokeRegistrationTokenByID(context.Context, string, time.Time) error {
	return policy.ErrNone
}

var now = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

func newService(s *store) *policy.Service {
	return policy.New(policy.Config{Store: s, Now: func() time.Time { return now }, Rand: rand.Reader,
		Defaults: policy.Policy{Registration: oauth.RegistrationOpen, ClientDocuments: true}})
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	s := &store{}
	service := newService(s)
	if p, saved, err := service.Get(t.Context()); err != nil || saved || p.Registration != oauth.RegistrationOpen || !p.ClientDocuments {
		t.Errorf("by default %+v, %v, %v", p, saved, err)
	}
	err := service.Set(t.Context(), policy.Policy{Registration: oauth.RegistrationOff,
		BlockedHosts: []string{" B.example. ", "a.example", "*.c.example", "a.example", ""}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := service.OAuth(t.Context())
	if err != nil || p.Registration != oauth.RegistrationOff || p.ClientDocuments || !slices.Equal(p.BlockedHosts, []string{"*.c.example", "a.example", "b.example"}) {
		t.Errorf("saved %+v, %v", p, err)
	}
	if err := service.Reset(t.Context()); err != nil || s.saved != nil {
		t.Errorf("reset: %v", err)
	}
	s.fail = errors.New("down")
	if _, err := service.OAuth(t.Context()); !errors.Is(err, s.fail) {
		t.Errorf("a store that is down gives %v", err)
	}
}

func TestPolicyRefuses(t *testing.T) {
	t.Parallel()
	many := make([]string, 501)
	for i := range many {
		many[i] = strings.Repeat("a", i%60+1) + "." + strings.Repeat("b", i/60+1) + ".example"
	}
	for name, p := range map[string]policy.Policy{
		"no mode":         {},
		"an unknown mode": {Registration: "perhaps"},
		"a URL":           {Registration: "open", BlockedHosts: []string{"https://a.example"}},
		"a port":          {Registration: "open", DocumentHosts: []string{"a.example:443"}},
		"a lone star":     {Registration: "open", RedirectHosts: []string{"*"}},
		"a star within":   {Registration: "open", RedirectHosts: []string{"a.*.example"}},
		"too many":        {Registration: "open", RedirectHosts: many},
	} {
		s := &store{}
		var invalid *policy.Invalid
		if err := newService(s).Set(t.Context(), p); !errors.As(err, &invalid) || s.saved != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRegistrationTokens(t *testing.T) {
	t.Parallel()
	s := &store{}
	token, secret, err := newService(s).CreateToken(t.Context(), policy.NewToken{Name: " CI ", MaxUses: 2, Life: time.Hour})
	if err != nil || token.Name != "CI" || !strings.HasPrefix(secret, "gti_") || !token.ExpiresAt.Equal(now.Add(time.Hour)) {
		t.Fatalf("DR-8 made %+v, %v", token, err)
	}
	if len(s.hashes) != 1 || !slices.Equal(s.hashes[0], oauth.HashSecret(secret)) {
		t.Error("DR-8 the store did not get the hash")
	}
	for name, change := range map[string]struct {
		usable bool
		change func(*policy.Token)
	}{
		"new":       {true, func(*policy.Token) {}},
		"used once": {true, func(t *policy.Token) { t.Uses = 1 }},
		"used up":   {false, func(t *policy.Token) { t.Uses = 2 }},
		"any":       {true, func(t *policy.Token) { t.Uses, t.MaxUses = 99, 0 }},
		"expired":   {false, func(t *policy.Token) { t.ExpiresAt = &now }},
		"revoked":   {false, func(t *policy.Token) { t.RevokedAt = &now }},
	} {
		changed := *token
		change.change(&changed)
		if changed.Usable(now) != change.usable {
			t.Errorf("%s: usable %v", name, !change.usable)
		}
	}
	for name, n := range map[string]policy.NewToken{
		"no name": {Name: " "}, "a long name": {Name: strings.Repeat("a", 101)}, "negative uses": {Name: "a", MaxUses: -1},
		"a negative life": {Name: "a", Life: -1}, "eleven years": {Name: "a", Life: 11 * 366 * 24 * time.Hour},
	} {
		var invalid *policy.Invalid
		if _, _, err := newService(&store{}).CreateToken(t.Context(), n); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
