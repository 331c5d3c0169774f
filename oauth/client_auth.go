package oauth

// Client authentication at the token and revocation endpoints: OAuth 2.1 §2.4, §3.2.4, RFC 6749 §2.3.1 (Basic and body),
// Appendix B (form decoding of Basic). Assertions are in client_assertion.go. Left out: mutual TLS.

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
)

// clientTouchEvery is how much older than now a client's last-seen time must be before it is written again.
const clientTouchEvery = time.Hour

// ClientAuthentication is what a request to a back-channel endpoint says of its client.
type ClientAuthentication struct {
	// HasAuthorization says that there was an Authorization header; Authorization is its value.
	HasAuthorization bool
	Authorization    string
	// ClientID, ClientSecret, AssertionType and Assertion are the body parameters. HasSecret says that client_secret was
	// there; empty counts as absent (OAuth 2.1 §3.2).
	ClientID, ClientSecret   string
	HasSecret                bool
	AssertionType, Assertion string
	// Proof is the request as a DPoP proof describes it, with the proof if there is one.
	Proof ProofRequest
}

// clientCredentials is one attempt at authentication: who, how, and with what secret.
type clientCredentials struct {
	id, method, secret string
	assertion          *clientAssertion
}

// AuthenticateClient proves the client of a request. Unknown clients, wrong secrets and wrong methods all get
// invalid_client with status 401: it is the one answer on which clients register again. Errors are *Error.
func (s *Server) AuthenticateClient(ctx context.Context, in ClientAuthentication) (*Client, error) {
	c, _, err := s.proveClient(ctx, in, s.backChannelClient)
	return c, err
}

// proveClient is AuthenticateClient with a way to find the client; it also gives the method that was used.
func (s *Server) proveClient(ctx context.Context, in ClientAuthentication, find findClient) (*Client, string, error) {
	c, method, err := s.authenticateClient(ctx, in, find)
	if err == nil {
		err = s.limitClient(ctx, c, method != AuthNone)
	}
	if err == nil {
		s.touchClient(ctx, c)
		return c, method, nil
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Code == "invalid_client" && in.HasAuthorization {
		e.Challenge = `Basic realm="token endpoint"` // OAuth 2.1 §3.2.4
	}
	return nil, "", err
}

// findClient finds a client by its id; errors are *Error.
type findClient func(ctx context.Context, id string) (*Client, error)

func (s *Server) authenticateClient(ctx context.Context, in ClientAuthentication, find findClient) (*Client, string, error) {
	credentials, err := readCredentials(in)
	if err != nil {
		return nil, "", err
	}
	c, err := find(ctx, credentials.id)
	if err != nil {
		return nil, "", err
	}
	if !slices.Contains(c.AuthMethods, credentials.method) {
		return nil, "", InvalidClient("The client may not authenticate with this method.").WithCheck("client_auth_method")
	}
	switch credentials.method {
	case AuthNone:
	case AuthPrivateKeyJWT:
		if err := s.proveAssertion(ctx, c, credentials.assertion); err != nil {
			return nil, "", err
		}
	default:
		if subtle.ConstantTimeCompare(HashSecret(credentials.secret), c.SecretHash) != 1 {
			return nil, "", InvalidClient("The client secret is wrong.").WithCheck("client_secret")
		}
	}
	return c, credentials.method, nil
}

// readCredentials finds the one method that the request uses. An empty secret is no secret, also in Basic: Go's oauth2
// package first tries Basic with an empty secret for every client that has none.
func readCredentials(in ClientAuthentication) (clientCredentials, error) {
	body := clientCredentials{id: in.ClientID, method: AuthNone}
	if in.HasSecret && in.ClientSecret != "" {
		body.method, body.secret = AuthPost, in.ClientSecret
	}
	asserts := in.Assertion != "" || in.AssertionType != ""
	if asserts && (body.method == AuthPost || in.HasAuthorization) || body.method == AuthPost && in.HasAuthorization {
		return clientCredentials{}, InvalidRequest("The request uses more than one client authentication method.").WithCheck("client_auth_method")
	}
	switch {
	case asserts:
		assertion, e := parseAssertion(in)
		if e != nil {
			return clientCredentials{}, e
		}
		return clientCredentials{id: assertion.claims.Subject, method: AuthPrivateKeyJWT, assertion: assertion}, nil
	case in.HasAuthorization:
		basic, err := parseBasic(in.Authorization)
		if err != nil {
			return clientCredentials{}, err
		}
		if in.ClientID != "" && in.ClientID != basic.id {
			return clientCredentials{}, InvalidRequest("The client_id in the body differs from the one in the Authorization header.").WithCheck("client_id")
		}
		return basic, nil
	case in.ClientID == "":
		return clientCredentials{}, InvalidClient("The request names no client.").WithCheck("client_id")
	}
	return body, nil
}

// parseBasic reads id and secret, which are form-encoded within Basic (RFC 6749 §2.3.1). Many clients leave that
// encoding out; ids and secrets issued here read the same either way.
func parseBasic(header string) (clientCredentials, error) {
	malformed := func() error {
		return InvalidClient("The Authorization header is not valid Basic authentication.").WithCheck("client_auth_method")
	}
	scheme, encoded, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return clientCredentials{}, malformed()
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimLeft(encoded, " "))
	if err != nil {
		return clientCredentials{}, malformed()
	}
	user, password, found := strings.Cut(string(decoded), ":")
	id, err := url.QueryUnescape(user)
	if err != nil || !found || id == "" {
		return clientCredentials{}, malformed()
	}
	secret, err := url.QueryUnescape(password)
	if err != nil {
		return clientCredentials{}, malformed()
	}
	if secret == "" {
		return clientCredentials{id: id, method: AuthNone}, nil
	}
	return clientCredentials{id: id, method: AuthBasic, secret: secret}, nil
}

// backChannelClient finds the client without a person at hand. A document is asked for again only for a client that
// holds a connection; while it cannot be had, the last good copy stands in, so that an outage of the client's host does
// not end sessions here.
func (s *Server) backChannelClient(ctx context.Context, id string) (*Client, error) {
	saved, err := s.lookupClient(ctx, id, false)
	missing := errors.Is(err, errNeedsFetch)
	if err != nil && !missing {
		return nil, err
	}
	if saved != nil && (saved.Kind != ClientDocument || saved.Document.isFresh(s.now())) {
		return saved, nil
	}
	connected, err := s.stores.Clients.ClientHasConnection(ctx, id)
	if err != nil {
		return nil, TemporarilyUnavailable(err).WithCheck("store")
	}
	if !connected {
		if missing {
			return nil, unknownClient()
		}
		return saved, nil
	}
	fetched, err := s.lookupClient(ctx, id, true)
	if err != nil && saved != nil {
		return saved, nil
	}
	return fetched, err
}

// touchClient notes that the client was seen, at most once in a while: it is a hint for people, and a token request
// should not pay a write for it. For the same reason a failure is let go; the next request tries again.
func (s *Server) touchClient(ctx context.Context, c *Client) {
	if now := s.now(); now.Sub(c.LastSeenAt) >= clientTouchEvery {
		_ = s.stores.Clients.TouchClient(ctx, c.ID, now)
	}
}
