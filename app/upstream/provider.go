package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/invitation"
)

// Provider is a server at which people can sign in.
type Provider struct {
	ID string
	// Slug names it in URLs.
	Slug     string
	Name     string
	Issuer   string
	ClientID string
	// Domains are those for whose verified addresses the provider is trusted: it may then open an account that exists.
	Domains []string
	// SignUp lets people who are nobody here make an account with it, as far as the sign-up policy allows them.
	SignUp    bool
	CreatedAt time.Time
}

// Row is a provider with its sealed secret; empty for a public client.
type Row struct {
	Provider
	SecretSealed []byte
}

// Store keeps providers and the sign-ins under way.
type Store interface {
	// InsertProvider gives ErrTaken for a slug or issuer that exists.
	InsertProvider(ctx context.Context, r Row) error
	Providers(ctx context.Context) ([]Row, error)
	// ProviderBySlug gives account.ErrNotFound for an unknown one.
	ProviderBySlug(ctx context.Context, slug string) (*Row, error)
	// DeleteProvider gives ErrInUse when people would have no way in left, unless forced.
	DeleteProvider(ctx context.Context, id string, force bool) error
	InsertAttempt(ctx context.Context, a Attempt) error
	// TakeAttempt gives an attempt once, while it has not expired; else account.ErrLinkGone.
	TakeAttempt(ctx context.Context, stateHash []byte, now time.Time) (*Attempt, error)
	SweepAttempts(ctx context.Context, now time.Time) error
}

// Refusals about providers.
var (
	ErrTaken = account.Refuse(account.CodeConflict, "slug", "There is a provider with this short name or issuer already.")
	ErrInUse = account.Refuse(account.CodeConflict, "", "Some people can sign in only with this provider. Remove it all the same, or give them reset links first.")
	// ErrProviderAway says that the provider gave no answer that could be used.
	ErrProviderAway = account.Refuse(account.CodeConflict, "", "The provider cannot be reached or does not answer as it should. Try again, or sign in another way.")
)

// Sealer seals client secrets; sealing.Sealer is one.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}

const sealPurpose = "provider secret"

// Accounts opens sessions and makes people; account.Service is one.
type Accounts interface {
	SignInWithIdentity(ctx context.Context, n account.NewIdentity, provedAt time.Time, from account.Device) (*account.Session, string, error)
	LinkIdentity(ctx context.Context, userID, keepSession string, n account.NewIdentity) error
	SignUpWithIdentity(ctx context.Context, p account.NewPerson, n account.NewIdentity) (*account.Person, error)
	PersonByEmail(ctx context.Context, email string) (*account.Person, error)
	SignUpRules() account.SignUpPolicy
}

// Invitations brings people into locations; invitation.Service is one.
type Invitations interface {
	ByID(ctx context.Context, id string) (*invitation.Invitation, error)
	Accept(ctx context.Context, i *invitation.Invitation, personID string) error
	AcceptWithIdentity(ctx context.Context, i *invitation.Invitation, n account.NewPerson, identity account.NewIdentity, verified bool) (*account.Person, error)
}

// Config is what a Service works with.
type Config struct {
	Now         func() time.Time
	Rand        io.Reader
	Store       Store
	Sealer      Sealer
	Accounts    Accounts
	Invitations Invitations
	// Client makes every request to providers; it must be guarded.
	Client    *http.Client
	PublicURL string
}

// Service signs people in at providers. It is safe for concurrent use.
type Service struct {
	c  Config
	mu sync.Mutex
	// known are the discovery documents read lately; they can be read again.
	known map[string]discovered
}

// New makes the service.
func New(c Config) (*Service, error) {
	if c.Now == nil || c.Rand == nil || c.Store == nil || c.Sealer == nil || c.Accounts == nil || c.Invitations == nil || c.Client == nil {
		return nil, errors.New("upstream: a dependency is missing")
	}
	return &Service{c: c, known: map[string]discovered{}}, nil
}

func (s *Service) at() time.Time { return s.c.Now().UTC().Truncate(time.Millisecond) }

// NewProvider is a provider to enter.
type NewProvider struct {
	Slug, Name, Issuer, ClientID, ClientSecret string
	Domains                                    []string
	SignUp                                     bool
}

var slug = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$`)

// Add enters a provider. It asks it for its metadata first, so that a wrong issuer shows at once.
func (s *Service) Add(ctx context.Context, n NewProvider) (*Provider, error) {
	r, err := s.check(n)
	if err != nil {
		return nil, err
	}
	if _, err := s.discover(ctx, r.Issuer); err != nil {
		return nil, fmt.Errorf("%w: %w", account.Refuse(account.CodeValidation, "issuer", "gives no OpenID Connect metadata that can be used: look at the address, and at GATEHOUSE_FETCH_ALLOW when it is in a private network"), err)
	}
	if r.ID, err = account.NewID(s.at(), s.c.Rand); err != nil {
		return nil, err
	}
	if n.ClientSecret != "" {
		if r.SecretSealed, err = s.c.Sealer.Seal(sealPurpose, r.ID, []byte(n.ClientSecret)); err != nil {
			return nil, fmt.Errorf("add provider: %w", err)
		}
	}
	if err := s.c.Store.InsertProvider(ctx, *r); err != nil {
		return nil, fmt.Errorf("add provider: %w", err)
	}
	return &r.Provider, nil
}

func (s *Service) check(n NewProvider) (*Row, error) {
	n.Slug, n.Issuer = strings.TrimSpace(n.Slug), strings.TrimSpace(n.Issuer)
	name, err := account.CleanName("name", n.Name, 80)
	if err != nil {
		return nil, err
	}
	if !slug.MatchString(n.Slug) {
		return nil, account.Refuse(account.CodeValidation, "slug", "must be 1 to 40 small letters, digits and dashes")
	}
	if !issuerURL(n.Issuer) {
		return nil, account.Refuse(account.CodeValidation, "issuer", "must be an https URL such as https://id.example")
	}
	if n.ClientID == "" || len(n.ClientID) > 500 || len(n.ClientSecret) > 1000 || strings.ContainsFunc(n.ClientID, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, account.Refuse(account.CodeValidation, "client_id", "must be the id that the provider gave for this server")
	}
	r := &Row{Provider: Provider{Slug: n.Slug, Name: name, Issuer: n.Issuer, ClientID: n.ClientID, SignUp: n.SignUp, CreatedAt: s.at()}}
	for _, d := range n.Domains {
		if strings.TrimSpace(d) == "" {
			continue
		}
		folded, err := account.FoldDomain(d)
		if err != nil {
			return nil, account.Refuse(account.CodeValidation, "domains", "must be domains such as example.org")
		}
		if !slices.Contains(r.Domains, folded) {
			r.Domains = append(r.Domains, folded)
		}
	}
	return r, nil
}

// issuerURL accepts https URLs without query and fragment (OpenID Connect Discovery §2); plain http on this computer alone.
func issuerURL(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || len(raw) > 2000 {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}

// List lists the providers by name.
func (s *Service) List(ctx context.Context) ([]Provider, error) {
	rows, err := s.c.Store.Providers(ctx)
	if err != nil {
		return nil, fmt.Errorf("list providers: %w", err)
	}
	out := make([]Provider, len(rows))
	for i := range rows {
		out[i] = rows[i].Provider
	}
	return out, nil
}

// Remove takes a provider away. Identities of its issuer stay known, and work again when it is entered again.
func (s *Service) Remove(ctx context.Context, slug string, force bool) error {
	r, err := s.c.Store.ProviderBySlug(ctx, slug)
	if err != nil {
		return fmt.Errorf("remove provider: %w", err)
	}
	if err := s.c.Store.DeleteProvider(ctx, r.ID, force); err != nil {
		return fmt.Errorf("remove provider: %w", err)
	}
	return nil
}

// Callback is the redirect URI of a provider, to be entered there. Each has its own, so that an answer of one cannot be
// passed off as another's (RFC 9700 §4.4.2.1).
func (s *Service) Callback(slug string) string {
	return s.c.PublicURL + "/signin/with/" + slug + "/callback"
}

// Sweep removes sign-ins that were not finished.
func (s *Service) Sweep(ctx context.Context) error { return s.c.Store.SweepAttempts(ctx, s.at()) }
