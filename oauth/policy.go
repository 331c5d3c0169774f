package oauth

// What an administrator decides about clients while the server runs: RFC 7591 §3 (open and protected registration),
// draft-ietf-oauth-client-id-metadata-document §8.1, §8.5, §8.9 (which hosts to trust).

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// RegistrationMode says which clients may register themselves.
type RegistrationMode string

// The modes of dynamic registration.
const (
	// RegistrationOpen lets every client register.
	RegistrationOpen RegistrationMode = "open"
	// RegistrationToken asks for an initial access token (RFC 7591 §1.2).
	RegistrationToken RegistrationMode = "token"
	// RegistrationApproval lets every client register; nobody can approve it before an administrator did.
	RegistrationApproval RegistrationMode = "approval"
	// RegistrationOff lets none register.
	RegistrationOff RegistrationMode = "off"
)

// Known reports whether the mode is one of the four.
func (m RegistrationMode) Known() bool {
	return slices.Contains([]RegistrationMode{RegistrationOpen, RegistrationToken, RegistrationApproval, RegistrationOff}, m)
}

// Policy is what holds for clients right now. Hosts are names or *.suffix; see MatchHost.
type Policy struct {
	Registration    RegistrationMode
	ClientDocuments bool
	// BlockedHosts may hold neither a client's document nor the target of a redirect.
	BlockedHosts []string
	// DocumentHosts, when there are any, are the only hosts of client documents.
	DocumentHosts []string
	// RedirectHosts, when there are any, are the only hosts that https redirects may go to. Clients that an administrator
	// entered are free of it, and so are redirects to the person's own computer.
	RedirectHosts []string
	// RefuseOtherHost refuses https redirects to another host than that of the client's document. Otherwise people are
	// warned.
	RefuseOtherHost bool
}

// policy is what holds for this request.
func (s *Server) policy(ctx context.Context) (Policy, error) {
	if s.cfg.Policy != nil {
		p, err := s.cfg.Policy(ctx)
		if err != nil {
			return Policy{}, TemporarilyUnavailable(fmt.Errorf("read policy: %w", err)).WithCheck("store")
		}
		return p, nil
	}
	p := Policy{Registration: RegistrationOff, ClientDocuments: s.cfg.ClientDocuments}
	if s.cfg.DynamicRegistration {
		p.Registration = RegistrationOpen
	}
	return p, nil
}

// MatchHost reports whether a host is in a list: by its exact name, or below a suffix that is written *.example.org (which
// does not stand for example.org itself).
func MatchHost(list []string, host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(list, func(pattern string) bool {
		suffix, wild := strings.CutPrefix(pattern, "*")
		return !wild && host == pattern || wild && len(host) > len(suffix) && strings.HasSuffix(host, suffix)
	})
}

// ValidHost reports whether the text can stand in a list of hosts: a lower-case name without a port, or *. and a name.
func ValidHost(pattern string) bool {
	name := strings.TrimPrefix(pattern, "*.")
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notHostCharacter) {
			return false
		}
	}
	return true
}

func notHostCharacter(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
}

// checkDocumentHost judges where a document is, before anything is fetched.
func (p Policy) checkDocumentHost(id string) *Error {
	u, err := url.Parse(id)
	switch {
	case err != nil:
		return InvalidClient("The client_id is not an https URL.").WithCheck("client_id")
	case MatchHost(p.BlockedHosts, u.Hostname()):
		return InvalidClient("The host of the client is blocked by the administrator of this server.").WithCheck("host_blocked")
	case len(p.DocumentHosts) > 0 && !MatchHost(p.DocumentHosts, u.Hostname()):
		return InvalidClient("The host of the client is not among those that the administrator of this server allows.").WithCheck("host_blocked")
	}
	return nil
}

// checkRedirectHost judges where an answer would go. It is shown, never sent there.
func (p Policy) checkRedirectHost(c *Client, uri string) *Error {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "https" {
		return nil
	}
	switch {
	case MatchHost(p.BlockedHosts, u.Hostname()):
		return InvalidRequest("The host of the redirect_uri is blocked by the administrator of this server.").WithCheck("host_blocked")
	case c.Kind == ClientRegistered:
		return nil
	case len(p.RedirectHosts) > 0 && !MatchHost(p.RedirectHosts, u.Hostname()):
		return InvalidRequest("The host of the redirect_uri is not among those that the administrator of this server allows.").WithCheck("host_blocked")
	case p.RefuseOtherHost && c.Kind == ClientDocument && !strings.EqualFold((&url.URL{Host: c.Host}).Hostname(), u.Hostname()):
		return InvalidRequest("The redirect_uri is at another host than the client, which the administrator of this server does not allow.").WithCheck("host_blocked")
	}
	return nil
}

// keepAllowedRedirects drops redirect URIs that no request could use, as readRedirectURIs does.
func (p Policy) keepAllowedRedirects(c *Client) error {
	var first *Error
	c.RedirectURIs = slices.DeleteFunc(c.RedirectURIs, func(uri string) bool {
		e := p.checkRedirectHost(c, uri)
		if first == nil {
			first = e
		}
		return e != nil
	})
	if len(c.RedirectURIs) == 0 && first != nil {
		return InvalidRedirectURI(first.Description).WithCheck(first.Check)
	}
	return nil
}

// CurrentMetadata is Metadata under the policy that holds now. Discovery goes on without the store: what was published
// last stands in.
func (s *Server) CurrentMetadata(ctx context.Context) *ServerMetadata {
	m := s.Metadata()
	s.apply(ctx, m)
	return m
}

// CurrentOpenIDConfiguration is OpenIDConfiguration under the policy that holds now.
func (s *Server) CurrentOpenIDConfiguration(ctx context.Context) *OpenIDMetadata {
	m := s.OpenIDConfiguration()
	s.apply(ctx, &m.ServerMetadata)
	return m
}

func (s *Server) apply(ctx context.Context, m *ServerMetadata) {
	p, err := s.policy(ctx)
	if err == nil {
		s.published.Store(&p)
	} else if last := s.published.Load(); last != nil {
		p = *last
	} else {
		return // nothing is known but the configuration
	}
	m.ClientIDMetadataDocumentSupported = p.ClientDocuments
	m.RegistrationEndpoint = ""
	if p.Registration != RegistrationOff {
		m.RegistrationEndpoint = s.cfg.Issuer + PathRegister
	}
}

// limitClient counts a request of a client; over its limit the error is temporarily_unavailable with status 429.
func (s *Server) limitClient(ctx context.Context, c *Client, proven bool) error {
	if s.cfg.Limit == nil {
		return nil
	}
	return s.cfg.Limit(ctx, c.ID, c.Settings.PerMinute, proven)
}
