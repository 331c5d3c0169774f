package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/oauth"
)

// Policy is what holds for clients. Lists hold host names, or *.example.org for everything below example.org.
type Policy struct {
	// Registration is open, token, approval or off.
	Registration oauth.RegistrationMode `json:"registration"`
	// ClientDocuments accepts clients whose id is the URL of their metadata document.
	ClientDocuments bool     `json:"client_documents"`
	BlockedHosts    []string `json:"blocked_hosts"`
	// DocumentHosts and RedirectHosts, when they hold anything, are the only ones allowed.
	DocumentHosts []string `json:"document_hosts"`
	RedirectHosts []string `json:"redirect_hosts"`
	// RefuseOtherHost refuses answers to another host than that of the client's document, instead of warning.
	RefuseOtherHost bool `json:"refuse_other_host"`
}

// Facts are the policy in the words of the audit record.
func (p *Policy) Facts() map[string]string {
	return map[string]string{
		"registration": string(p.Registration), "client_documents": strconv.FormatBool(p.ClientDocuments),
		"refuse_other_host": strconv.FormatBool(p.RefuseOtherHost), "blocked_hosts": strings.Join(p.BlockedHosts, " "),
		"document_hosts": strings.Join(p.DocumentHosts, " "), "redirect_hosts": strings.Join(p.RedirectHosts, " "),
	}
}

// maxHosts is how many hosts a list may hold.
const maxHosts = 500

// Invalid is a refusal of what was entered.
type Invalid struct {
	// Field is the name of the field in JSON, Message is for the person.
	Field, Message string
	// Value is what the message is about, if anything.
	Value string
}

// Error implements error.
func (e *Invalid) Error() string {
	if e.Value != "" {
		return e.Field + ": " + e.Message + " " + e.Value
	}
	return e.Field + ": " + e.Message
}

// Messages of refusals, for people.
const (
	BadMode  = "Choose who may register: open, token, approval or off."
	BadHost  = "This is not a host name such as app.example or *.example:"
	ManyHost = "The list holds more than 500 hosts."
)

// clean puts the lists in order, or says what is wrong.
func (p *Policy) clean() error {
	if !p.Registration.Known() {
		return &Invalid{Field: "registration", Message: BadMode}
	}
	for _, list := range []struct {
		name  string
		hosts *[]string
	}{{"blocked_hosts", &p.BlockedHosts}, {"document_hosts", &p.DocumentHosts}, {"redirect_hosts", &p.RedirectHosts}} {
		hosts := []string{}
		for _, host := range *list.hosts {
			if host = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(host), ".")); host == "" {
				continue
			}
			if !oauth.ValidHost(host) {
				return &Invalid{Field: list.name, Message: BadHost, Value: host}
			}
			hosts = append(hosts, host)
		}
		slices.Sort(hosts)
		if *list.hosts = slices.Compact(hosts); len(*list.hosts) > maxHosts {
			return &Invalid{Field: list.name, Message: ManyHost}
		}
	}
	return nil
}

// ParseHosts reads a list of hosts as people type it: one a line, or separated by commas or spaces.
func ParseHosts(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}

// ErrNone says that no policy was saved, or that there is no such token.
var ErrNone = errors.New("policy: there is none")

// Store keeps the policy and the registration tokens.
type Store interface {
	// Policy returns the saved policy, or ErrNone.
	Policy(ctx context.Context) (*Policy, error)
	// SavePolicy replaces the policy; nil takes it away.
	SavePolicy(ctx context.Context, p *Policy, now time.Time) error
	TokenStore
}

// Config is what a Service works with.
type Config struct {
	Store Store
	Now   func() time.Time
	Rand  io.Reader
	// Defaults hold while no policy is saved.
	Defaults Policy
}

// Service keeps the policy. It is safe for concurrent use and remembers nothing.
type Service struct{ c Config }

// New makes the service.
func New(c Config) *Service { return &Service{c} }

// Get gives the policy that holds, and whether one was saved.
func (s *Service) Get(ctx context.Context) (Policy, bool, error) {
	p, err := s.c.Store.Policy(ctx)
	switch {
	case errors.Is(err, ErrNone):
		return s.c.Defaults, false, nil
	case err != nil:
		return Policy{}, false, err
	}
	return *p, true, nil
}

// Set saves a policy, which replaces the program's settings from the next request on. A mistake gives *Invalid.
func (s *Service) Set(ctx context.Context, p Policy) error {
	if err := p.clean(); err != nil {
		return err
	}
	return s.c.Store.SavePolicy(ctx, &p, s.c.Now())
}

// Reset takes the saved policy back: the program's settings hold again.
func (s *Service) Reset(ctx context.Context) error { return s.c.Store.SavePolicy(ctx, nil, s.c.Now()) }

// OAuth is the policy as package oauth asks for it.
func (s *Service) OAuth(ctx context.Context) (oauth.Policy, error) {
	p, _, err := s.Get(ctx)
	if err != nil {
		return oauth.Policy{}, fmt.Errorf("policy: %w", err)
	}
	return oauth.Policy(p), nil
}
