package oauth

// Dynamic client registration: RFC 7591 §1.2 (initial access tokens), §2, §3. Left out: software statements (ignored,
// §3.1.1). Management is in register_manage.go.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// defaultMaxDynamicClients is the ceiling of self-registered clients.
const defaultMaxDynamicClients = 100_000

// Registration is the answer to a registration (RFC 7591 §3.2.1): everything as stored. Send it with status 201 and
// Cache-Control: no-store. Optional members are absent rather than null, and a secret never stands next to none: some
// clients stumble over either.
type Registration struct {
	ClientID         string `json:"client_id"`
	ClientIDIssuedAt int64  `json:"client_id_issued_at"`
	ClientSecret     string `json:"client_secret,omitempty"`
	// ClientSecretExpiresAt is there exactly when ClientSecret is; 0 means never.
	ClientSecretExpiresAt *int64 `json:"client_secret_expires_at,omitempty"`
	// RegistrationAccessToken and RegistrationClientURI are there for clients that may manage their registration.
	RegistrationAccessToken string `json:"registration_access_token,omitempty"`
	RegistrationClientURI   string `json:"registration_client_uri,omitempty"`
	// JWKS, JWKSURI and TokenEndpointAuthSigningAlg are there for clients with private_key_jwt.
	JWKS                        json.RawMessage `json:"jwks,omitempty"`
	JWKSURI                     string          `json:"jwks_uri,omitempty"`
	TokenEndpointAuthSigningAlg string          `json:"token_endpoint_auth_signing_alg,omitempty"`

	RequirePushed           bool     `json:"require_pushed_authorization_requests,omitempty"`
	RedirectURIs            []string `json:"redirect_uris"`
	TokenEndpointAuthMethod string   `json:"token_endpoint_auth_method"`
	GrantTypes              []string `json:"grant_types"`
	ResponseTypes           []string `json:"response_types"`
	ApplicationType         string   `json:"application_type,omitempty"`
	ClientName              string   `json:"client_name,omitempty"`
	ClientURI               string   `json:"client_uri,omitempty"`
	LogoURI                 string   `json:"logo_uri,omitempty"`
	TOSURI                  string   `json:"tos_uri,omitempty"`
	PolicyURI               string   `json:"policy_uri,omitempty"`
	Scope                   string   `json:"scope,omitempty"`
	Contacts                []string `json:"contacts,omitempty"`
	SoftwareID              string   `json:"software_id,omitempty"`
	SoftwareVersion         string   `json:"software_version,omitempty"`
	DPoPBoundAccessTokens   bool     `json:"dpop_bound_access_tokens,omitempty"`
	// IDTokenSignedResponseAlg is there for clients that asked for one.
	IDTokenSignedResponseAlg string `json:"id_token_signed_response_alg,omitempty"`
}

// Register registers a client from the JSON body of its request. Errors are *Error.
func (s *Server) Register(ctx context.Context, body []byte) (*Registration, error) {
	return s.RegisterWith(ctx, body, "")
}

// RegisterWith is Register with the initial access token that the request carries; it counts only where one is asked for.
func (s *Server) RegisterWith(ctx context.Context, body []byte, initialToken string) (*Registration, error) {
	c, secrets, err := s.register(ctx, body, initialToken)
	if err != nil {
		step := Step{Name: StepRegister, Check: "registration"}
		if e := (*Error)(nil); errors.As(err, &e) {
			step.Check, step.Reason = e.Check, e.Description
		}
		s.observe(ctx, step)
		return nil, err
	}
	s.observe(ctx, Step{Name: StepRegister, OK: true, ClientID: c.ID,
		Detail: fmt.Sprintf("%s, %d redirect URIs, first to %s", c.AuthMethods[0], len(c.RedirectURIs), redirectHost(c.RedirectURIs[0]))})
	return s.manageable(newRegistration(c, secrets.client), secrets.manage), nil
}

// RegisterByAdmin registers a client that an administrator enters: the same checks, but neither the switch of
// self-registration nor its ceiling holds. Errors are *Error.
func (s *Server) RegisterByAdmin(ctx context.Context, body []byte) (*Registration, error) {
	m, err := decodeMetadata(body)
	if err != nil {
		return nil, InvalidClientMetadata("The body must be one JSON object in UTF-8 without repeated names.").WithCheck("body").WithCause(err)
	}
	c, err := s.parseClient(m, Policy{}, ClientRegistered)
	if err != nil {
		return nil, err
	}
	secret, err := s.identify(c)
	if err != nil {
		return nil, ServerError(fmt.Errorf("register client: %w", err))
	}
	c.Kind = ClientRegistered
	if err := s.stores.Clients.SaveClient(ctx, c); err != nil {
		return nil, TemporarilyUnavailable(fmt.Errorf("register client: %w", err)).WithCheck("store")
	}
	return newRegistration(c, secret), nil
}

// registrationSecrets are what a registration hands out once.
type registrationSecrets struct{ client, manage string }

// register checks in the order: switched on, initial access token, metadata, ceiling; so that a client's developer hears
// of mistakes first. The token's use is counted together with saving the client.
func (s *Server) register(ctx context.Context, body []byte, initialToken string) (*Client, registrationSecrets, error) {
	var secrets registrationSecrets
	p, err := s.policy(ctx)
	if err != nil {
		return nil, secrets, err
	}
	initial, err := s.admitRegistration(ctx, p, initialToken)
	if err != nil {
		return nil, secrets, err
	}
	m, err := decodeMetadata(body)
	if err != nil {
		return nil, secrets, InvalidClientMetadata("The body must be one JSON object in UTF-8 without repeated names.").WithCheck("body").WithCause(err)
	}
	c, err := s.parseClient(m, p, ClientDynamic)
	if err != nil {
		return nil, secrets, err
	}
	if err := s.checkCeiling(ctx); err != nil {
		return nil, secrets, err
	}
	if secrets.client, err = s.identify(c); err == nil {
		secrets.manage, c.RegistrationHash, err = newSecret(s.cfg.Rand, prefixManage)
	}
	if err != nil {
		return nil, secrets, ServerError(fmt.Errorf("register client: %w", err))
	}
	if p.Registration == RegistrationApproval {
		c.PendingAt = &c.CreatedAt
	}
	return c, secrets, s.saveRegistered(ctx, c, initial)
}

// admitRegistration lets a registration in under the policy. It gives the hash of the initial access token, if one is
// asked for.
func (s *Server) admitRegistration(ctx context.Context, p Policy, token string) ([]byte, error) {
	switch p.Registration {
	case RegistrationOpen, RegistrationApproval:
		return nil, nil
	case RegistrationToken:
	default:
		return nil, AccessDenied("Dynamic client registration is switched off.").WithCheck("registration")
	}
	if token == "" {
		return nil, InvalidRegistrationToken("Registration needs an initial access token from the administrator of this server.")
	}
	hash := HashSecret(token)
	err := s.stores.Clients.CheckInitialToken(ctx, hash, s.now())
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrEnded) {
		return nil, spentInitialToken()
	}
	if err != nil {
		return nil, storeFailure("look up initial access token", err)
	}
	return hash, nil
}

func spentInitialToken() *Error {
	return InvalidRegistrationToken("The initial access token is unknown, has expired or is used up.")
}

func (s *Server) saveRegistered(ctx context.Context, c *Client, initial []byte) error {
	var err error
	if initial == nil {
		err = s.stores.Clients.SaveClient(ctx, c)
	} else if err = s.stores.Clients.RegisterClient(ctx, c, initial); errors.Is(err, ErrEnded) {
		return spentInitialToken()
	}
	if err != nil {
		return TemporarilyUnavailable(fmt.Errorf("register client: %w", err)).WithCheck("store")
	}
	return nil
}

// parseClient turns metadata into a client of the kind, all but its identity.
func (s *Server) parseClient(m clientMetadata, p Policy, kind ClientKind) (*Client, error) {
	c, err := s.readClient(m, kind == ClientRegistered)
	if err != nil {
		return nil, err
	}
	c.Kind = kind
	if err := p.keepAllowedRedirects(c); err != nil {
		return nil, err
	}
	if c.AuthMethods, err = s.registeredMethods(m); err != nil {
		return nil, err
	}
	if c.IDTokenAlgorithm != "" {
		c.IDTokenAlgorithm = s.idTokenAlgorithm(c)
	}
	if err := checkDirect(c); err != nil {
		return nil, err
	}
	if c.AuthMethods[0] == AuthPrivateKeyJWT {
		if err := m.takeKeys(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// registeredMethods are the authentication methods of a registration. An omitted method means client_secret_basic
// (RFC 7591 §2); such a client gets a secret and may send it either way, since it did not say how it will.
func (s *Server) registeredMethods(m clientMetadata) ([]string, error) {
	method, err := m.text("token_endpoint_auth_method")
	if err != nil {
		return nil, err
	}
	choices, err := m.list("token_endpoint_auth_methods_supported")
	if err != nil {
		return nil, err
	}
	offered := s.authMethods()
	if !m.has("jwks") && !m.has("jwks_uri") && len(choices) > 0 {
		offered = keep(offered, AuthNone, AuthBasic, AuthPost) // without keys one of the other choices has to do
	}
	switch {
	case method == "" && len(choices) == 0:
		return []string{AuthBasic, AuthPost}, nil
	case slices.Contains(offered, method):
		return []string{method}, nil
	}
	// OpenID Connect RP Metadata Choices: the client lists all that it can do.
	for _, choice := range []string{AuthNone, AuthPrivateKeyJWT, AuthBasic, AuthPost} {
		if slices.Contains(offered, choice) && slices.Contains(choices, choice) {
			return []string{choice}, nil
		}
	}
	return nil, InvalidClientMetadata("The token_endpoint_auth_method is not supported. Use one of " + strings.Join(s.authMethods(), ", ") + ".").
		WithCheck("token_endpoint_auth_method")
}

// authMethods are the authentication methods offered.
func (s *Server) authMethods() []string {
	methods := []string{AuthNone, AuthBasic, AuthPost}
	if s.usesKeys() {
		methods = append(methods, AuthPrivateKeyJWT)
	}
	return methods
}

// checkCeiling holds the global ceiling. There is no limit per address: hosted clients register all their users'
// installations from a few addresses.
func (s *Server) checkCeiling(ctx context.Context) error {
	ceiling := s.cfg.MaxDynamicClients
	if ceiling == 0 {
		ceiling = defaultMaxDynamicClients
	}
	n, err := s.stores.Clients.CountClients(ctx, ClientDynamic)
	if err != nil {
		return TemporarilyUnavailable(fmt.Errorf("count clients: %w", err)).WithCheck("store")
	}
	if n >= ceiling {
		n, err = s.makeRoom(ctx, n)
	}
	if err != nil {
		return TemporarilyUnavailable(fmt.Errorf("remove unused clients: %w", err)).WithCheck("store")
	}
	if n >= ceiling {
		e := TemporarilyUnavailable(errors.New("ceiling of self-registered clients reached")).WithCheck("ceiling")
		e.RetryAfter = time.Hour
		return e
	}
	return nil
}

// unusedLife is how long a client that never had a connection stays when the ceiling is reached.
const unusedLife = time.Hour

// makeRoom removes clients that registered a while ago and never got a connection: a stranger who registers without end
// must not shut everybody else out until the sweep comes round.
func (s *Server) makeRoom(ctx context.Context, n int) (int, error) {
	removed, err := s.stores.Clients.DeleteUnusedClients(ctx, s.now().Add(-unusedLife))
	if err != nil || removed == 0 {
		return n, err
	}
	return s.stores.Clients.CountClients(ctx, ClientDynamic)
}

// identify gives the client its id, times and, if it uses one, a secret. Ids and secrets are free of the
// characters on which clients differ in encoding Basic credentials, and ids can never be taken for document URLs.
func (s *Server) identify(c *Client) (secret string, err error) {
	if c.ID, err = newID(s.cfg.Rand, prefixClientID); err != nil {
		return "", err
	}
	c.Kind = ClientDynamic
	c.CreatedAt = s.now()
	c.LastSeenAt = c.CreatedAt
	if !slices.Contains(c.AuthMethods, AuthBasic) && !slices.Contains(c.AuthMethods, AuthPost) {
		return "", nil
	}
	secret, c.SecretHash, err = newSecret(s.cfg.Rand, prefixClientSecret)
	return secret, err
}

func newRegistration(c *Client, secret string) *Registration {
	r := &Registration{
		ClientID: c.ID, ClientIDIssuedAt: c.CreatedAt.Unix(), ClientSecret: secret,
		RedirectURIs: c.RedirectURIs, TokenEndpointAuthMethod: c.AuthMethods[0],
		GrantTypes: c.GrantTypes, ResponseTypes: c.ResponseTypes, ApplicationType: c.ApplicationType,
		ClientName: c.Name, ClientURI: c.ClientURI, LogoURI: c.LogoURI, TOSURI: c.TOSURI, PolicyURI: c.PolicyURI,
		Scope: c.Scope, Contacts: c.Contacts, SoftwareID: c.SoftwareID, SoftwareVersion: c.SoftwareVersion,
		DPoPBoundAccessTokens: c.DPoPBound,
	}
	r.JWKS, r.JWKSURI, r.TokenEndpointAuthSigningAlg = c.JWKS, c.JWKSURI, c.AssertionAlgorithm
	r.RequirePushed, r.IDTokenSignedResponseAlg = c.RequirePushed, c.IDTokenAlgorithm
	if secret != "" {
		r.ClientSecretExpiresAt = new(int64)
	}
	return r
}
