package oauth

// Assertions of trusted issuers as grants: RFC 7523 §2.1, §3.1; draft-ietf-oauth-identity-assertion-authz-grant §4.4
// (ID-JAG: an organisation's identity provider says who a client may act for); RFC 8725 §3.1, §3.11.
//
// Other assertions than ID-JAGs are refused. What the issuer limits is limited: a claim that could be a limit and is not
// understood is a reason to refuse, never to go on.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// typeIDJAG is the typ of the JOSE header.
	typeIDJAG = "oauth-id-jag+jwt"
	// profileIDJAG names the profile in the metadata.
	profileIDJAG = "urn:ietf:params:oauth:grant-profile:id-jag"
)

// TrustedIssuer is an issuer whose assertions an administrator accepts.
type TrustedIssuer struct {
	// Issuer is its identifier, byte for byte the iss of its assertions.
	Issuer string
	// Tenant, when set, is the only tenant that is accepted.
	Tenant string
	// JWKS are its public keys or JWKSURI where they are published; one of them is set.
	JWKS    json.RawMessage
	JWKSURI string
	// Algorithms are those that its assertions may be signed with.
	Algorithms []string
	// SingleUse says that an assertion works once. The draft lets clients present one again until it expires.
	SingleUse bool
	// IgnoredClaims are claims that are known to limit nothing.
	IgnoredClaims []string
}

// IssuerStore keeps trusted issuers.
type IssuerStore interface {
	// TrustedIssuer returns the issuer with exactly this identifier, or ErrNotFound.
	TrustedIssuer(ctx context.Context, issuer string) (*TrustedIssuer, error)
}

// AssertedSubject is whom an issuer vouches for. Issuer, tenant and subject together are the person; the rest is only
// what the issuer says of them.
type AssertedSubject struct {
	Issuer, Tenant, Subject string
	Email                   string
	// EmailUnverified says that the issuer itself did not check the address.
	EmailUnverified bool
	Name            string
}

// ResolvedSubject is the person here, with what their first connection through the issuer holds.
type ResolvedSubject struct {
	UserID string
	Scopes []string
	Terms  json.RawMessage
}

// SubjectResolver knows who the people of an issuer are here.
type SubjectResolver interface {
	// ResolveSubject finds the person, and may link or make one; ErrNotFound when there is nobody.
	ResolveSubject(ctx context.Context, subject AssertedSubject) (*ResolvedSubject, error)
}

// AssertionOrigin is NewGrant.Origin of what stands on assertions of an issuer.
func AssertionOrigin(issuer string) string { return GrantJWTBearer + " " + issuer }

func (s *Server) assertionsOn() bool {
	return s.stores.Grants != nil && s.stores.Issuers != nil && s.cfg.Subjects != nil && s.usesKeys()
}

// jagClaims are the claims of an ID-JAG that mean something here.
type jagClaims struct {
	Issuer        string                     `json:"iss"`
	Subject       string                     `json:"sub"`
	Audience      audience                   `json:"aud"`
	ClientID      string                     `json:"client_id"`
	ID            string                     `json:"jti"`
	ExpiresAt     *float64                   `json:"exp"`
	NotBefore     *float64                   `json:"nbf"`
	IssuedAt      *float64                   `json:"iat"`
	Tenant        string                     `json:"tenant"`
	Resource      textOrList                 `json:"resource"`
	Scope         *string                    `json:"scope"`
	Details       json.RawMessage            `json:"authorization_details"`
	Confirmation  map[string]json.RawMessage `json:"cnf"`
	Email         string                     `json:"email"`
	EmailVerified *bool                      `json:"email_verified"`
	Name          string                     `json:"name"`
}

// knownClaims are read above; freeClaims say something of the person or of their sign-in and limit nothing.
var (
	knownClaims = []string{
		"iss", "sub", "aud", "client_id", "jti", "exp", "nbf", "iat", "tenant", "resource", "scope", "authorization_details", "cnf",
		"email", "email_verified", "name",
	}
	freeClaims = []string{
		"auth_time", "acr", "amr", "sid", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "picture",
		"locale", "zoneinfo", "updated_at", "phone_number", "phone_number_verified",
	}
)

// textOrList is a claim that is one string or an array of them.
type textOrList []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *textOrList) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(l))
	}
	var one string
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*l = textOrList{one}
	return nil
}

func badGrant(description string) *Error { return InvalidGrant(description).WithCheck("assertion") }

// parseJAG takes an assertion apart; nothing about it is proven yet. The claim names are for the check of limits.
func parseJAG(assertion string) (*clientAssertion, *jagClaims, []string, *Error) {
	if len(assertion) > maxAssertion {
		return nil, nil, nil, badGrant("The assertion is too long.")
	}
	jws, err := jose.ParseSignedCompact(assertion, assertionAlgorithms)
	if err != nil {
		return nil, nil, nil, badGrant("The assertion is not a JWT signed with one of " + strings.Join(assertionAlgorithmNames(), ", ") + ".").WithCause(err)
	}
	a := &clientAssertion{jws: jws, header: jws.Signatures[0].Protected}
	if typ, _ := a.header.ExtraHeaders[jose.HeaderType].(string); typ != typeIDJAG {
		return nil, nil, nil, badGrant("The typ of the assertion must be " + typeIDJAG + ".")
	}
	payload := jws.UnsafePayloadWithoutVerification()
	members, err := decodeMetadata(payload)
	if err != nil {
		return nil, nil, nil, badGrant("The claims of the assertion are not one JSON object without repeated names.").WithCause(err)
	}
	var claims jagClaims
	if err := json.Unmarshal(payload, &claims); err != nil {
		return nil, nil, nil, badGrant("A claim of the assertion is malformed, or aud has not exactly one value.").WithCause(err)
	}
	names := make([]string, 0, len(members))
	for name := range members {
		// Go matches member names without case; what is spelled differently is another claim and unknown.
		names = append(names, name)
	}
	slices.Sort(names)
	return a, &claims, names, nil
}

// exchangeAssertion answers a client that brings an assertion.
func (s *Server) exchangeAssertion(ctx context.Context, client *Client, request tokenRequest) (*TokenResponse, *tokenGrant, error) {
	if request.assertion == "" {
		return nil, nil, InvalidRequest("The assertion is missing.").WithCheck("assertion")
	}
	a, claims, names, e := parseJAG(request.assertion)
	if e != nil {
		return nil, nil, e
	}
	issuer, e := s.proveJAG(ctx, a, claims.Issuer)
	if e != nil {
		return nil, nil, e
	}
	if e := s.checkJAG(claims, names, issuer, client, request); e != nil {
		return nil, nil, e
	}
	asked, resource, e := s.jagTarget(claims, request)
	if e != nil {
		return nil, nil, e
	}
	grant := &tokenGrant{clientID: client.ID, resource: resource, keyThumbprint: request.keyThumbprint}
	if e := s.grantAssertion(ctx, grant, issuer, claims); e != nil {
		return nil, grant, e
	}
	if e := grant.limit(asked); e != nil {
		return nil, grant, e
	}
	if e := s.narrowDetails(grant, request.details, nil); e != nil {
		return nil, grant, e
	}
	// What the issuer or the client limited stays limited when the person gives the connection more.
	grant.narrowed = grant.narrowed || len(asked) > 0
	response, e := s.respond(ctx, grant, "")
	if e != nil {
		return nil, grant, e
	}
	return response, grant, nil
}

// proveJAG finds the issuer and checks the signature.
func (s *Server) proveJAG(ctx context.Context, a *clientAssertion, iss string) (*TrustedIssuer, *Error) {
	issuer, err := s.stores.Issuers.TrustedIssuer(ctx, iss)
	if errors.Is(err, ErrNotFound) {
		return nil, badGrant("The issuer of the assertion is not trusted here.")
	}
	if err != nil {
		return nil, storeFailure("read trusted issuer", err)
	}
	if !slices.Contains(issuer.Algorithms, a.header.Algorithm) {
		return nil, badGrant("The assertion is not signed with an algorithm that is accepted from its issuer.")
	}
	keys := &Client{ID: iss, Kind: ClientRegistered, JWKS: issuer.JWKS, JWKSURI: issuer.JWKSURI}
	if err := s.verifyAssertion(ctx, keys, a); err != nil {
		e := storeFailure("verify assertion", err)
		if e.Code != "invalid_client" {
			return nil, e
		}
		return nil, badGrant("The assertion is not signed with a key of its issuer, or the keys of the issuer cannot be used.").WithCause(e)
	}
	return issuer, nil
}

// checkJAG checks the claims but those that say for what.
func (s *Server) checkJAG(c *jagClaims, names []string, issuer *TrustedIssuer, client *Client, request tokenRequest) *Error {
	now := float64(s.now().UnixMilli()) / 1000
	skew := assertionSkew.Seconds()
	switch {
	case string(c.Audience) != s.cfg.Issuer:
		return badGrant("The aud of the assertion must be the issuer identifier of this server alone.")
	case c.ClientID != client.ID:
		return badGrant("The client_id of the assertion is not the client that brings it.")
	case c.Subject == "" || len(c.Subject) > maxMetadataText:
		return badGrant("The assertion needs a sub of at most 255 bytes.")
	case c.ID == "" || len(c.ID) > maxAssertionID:
		return badGrant("The assertion has no jti.")
	case c.IssuedAt == nil || *c.IssuedAt > now+skew:
		return badGrant("The assertion has no iat, or it lies in the future.")
	case c.ExpiresAt == nil || *c.ExpiresAt <= now-skew:
		return badGrant("The assertion has expired, or has no exp.")
	case *c.ExpiresAt > now+skew+maxAssertionLife.Seconds():
		return badGrant("The exp of the assertion is more than an hour ahead.")
	case c.NotBefore != nil && *c.NotBefore > now+skew:
		return badGrant("The assertion is not valid yet (nbf).")
	case issuer.Tenant != "" && c.Tenant != issuer.Tenant:
		return badGrant("The assertion is of another tenant than the one that is trusted.")
	}
	for _, name := range names {
		if !slices.Contains(knownClaims, name) && !slices.Contains(freeClaims, name) && !slices.Contains(issuer.IgnoredClaims, name) {
			return badGrant("The assertion has a claim that this server does not know and that may limit it: " + name)
		}
	}
	if details := bytes.TrimSpace(c.Details); len(details) > 0 && !bytes.Equal(details, []byte("[]")) && !bytes.Equal(details, []byte("null")) {
		return badGrant("The assertion limits authorization_details, which this server does not support.")
	}
	return checkJAGKey(c.Confirmation, request.keyThumbprint)
}

// checkJAGKey holds the key that the assertion is bound to (RFC 9449 §6.1): the client must prove it, and nothing else can
// be proven here.
func checkJAGKey(cnf map[string]json.RawMessage, thumbprint string) *Error {
	if cnf == nil {
		return nil
	}
	var jkt string
	if len(cnf) != 1 || json.Unmarshal(cnf["jkt"], &jkt) != nil || jkt == "" {
		return badGrant("The assertion is bound in a way that is not supported (cnf).")
	}
	if jkt != thumbprint {
		return badGrant("The assertion is bound to a key. Send a DPoP proof of that key.")
	}
	return nil
}

// jagTarget settles the resource and the scopes asked for. The claims of the assertion are upper bounds of the request's
// parameters, and stand in for them where they are missing.
func (s *Server) jagTarget(c *jagClaims, request tokenRequest) ([]string, *Resource, *Error) {
	asked, err := parseScope(request.scope)
	if err != nil {
		return nil, nil, storeFailure("parse scope", err)
	}
	var bound []string
	if c.Scope != nil {
		if bound, err = parseScope(*c.Scope); err != nil {
			return nil, nil, badGrant("The scope of the assertion is malformed.")
		}
	}
	resource, e := s.jagResource(c.Resource, request.resources, append(slices.Clone(asked), bound...))
	if e != nil || c.Scope == nil {
		return asked, resource, e
	}
	asked = slices.DeleteFunc(asked, func(scope string) bool { return scope == ScopeOfflineAccess })
	if len(asked) == 0 {
		asked = bound
	} else {
		asked = keep(resource.expand(asked), resource.expand(bound)...)
	}
	if len(resource.keepKnown(asked)) == 0 {
		return nil, nil, InvalidScope("The assertion allows none of the scopes asked for at this resource.").WithCheck("scope")
	}
	return asked, resource, nil
}

// jagResource finds the resource: the one asked for, if the assertion allows it, else the only one of ours that the
// assertion names.
func (s *Server) jagResource(bound textOrList, values, scopes []string) (*Resource, *Error) {
	if bound == nil {
		return s.resolveResource(values, scopes)
	}
	var allowed []string
	for _, value := range bound {
		if r := s.matchResource(value); r != nil && !slices.Contains(allowed, r.URI) {
			allowed = append(allowed, r.URI)
		}
	}
	if len(values) == 0 {
		values = allowed
	}
	if len(values) == 0 {
		return nil, InvalidTarget("The assertion is for no resource of this server.").WithCheck("resource")
	}
	resource, e := s.resolveResource(values, nil)
	if e != nil {
		return nil, e
	}
	if !slices.Contains(allowed, resource.URI) {
		return nil, InvalidTarget("The assertion is not for this resource.").WithCheck("resource")
	}
	return resource, nil
}

// grantAssertion finds the person and the connection. Everything that the assertion can be refused for comes first.
func (s *Server) grantAssertion(ctx context.Context, grant *tokenGrant, issuer *TrustedIssuer, c *jagClaims) *Error {
	if _, err := s.keys.signer(ctx); err != nil {
		return storeFailure("find signing key", err)
	}
	person, err := s.cfg.Subjects.ResolveSubject(ctx, AssertedSubject{
		Issuer: c.Issuer, Tenant: c.Tenant, Subject: c.Subject, Email: c.Email, Name: c.Name,
		EmailUnverified: c.EmailVerified != nil && !*c.EmailVerified,
	})
	if errors.Is(err, ErrNotFound) {
		return InvalidGrant("The person of the assertion has no account here.").WithCheck("account")
	}
	if err != nil {
		return storeFailure("find person of assertion", err)
	}
	grant.userID = person.UserID
	scopes := grant.resource.own(person.Scopes)
	if len(scopes) == 0 {
		return InvalidScope("The issuer of the assertion may give nothing at this resource.").WithCheck("scope")
	}
	if issuer.SingleUse {
		expires := time.UnixMilli(int64(*c.ExpiresAt * 1000)).UTC()
		err := s.stores.Clients.UseAssertion(ctx, HashSecret("grant\x00"+c.Issuer+"\x00"+c.ID), expires)
		if errors.Is(err, ErrUsed) {
			return badGrant("The assertion was used before.")
		}
		if err != nil {
			return storeFailure("use assertion", err)
		}
	}
	found, e := s.writeGrant(ctx, NewGrant{
		Approval: Approval{UserID: person.UserID, ClientID: grant.clientID, Resource: grant.resource.URI, Scopes: scopes, Terms: person.Terms},
		Origin:   AssertionOrigin(issuer.Issuer), DeviceHint: deviceHint(ctx),
	})
	if e != nil {
		return e
	}
	grant.take(found)
	return nil
}

// CheckTrustedIssuer says what is wrong with an issuer that is to be trusted, in a sentence for whoever enters it, or nil.
func CheckTrustedIssuer(t *TrustedIssuer) error {
	switch {
	case !isKeysURI(t.Issuer) || strings.Contains(t.Issuer, "?"):
		return errors.New("The issuer must be an https URL without query, fragment and user information.")
	case (t.JWKSURI != "") == (len(t.JWKS) > 0):
		return errors.New("Either the URL of a key set or a key set is needed.")
	case t.JWKSURI != "" && !isKeysURI(t.JWKSURI):
		return errors.New("The URL of the key set must be https, without user information and fragment.")
	case len(t.Algorithms) == 0 || !isSubset(t.Algorithms, assertionAlgorithmNames()):
		return errors.New("The algorithms must be some of RS256, PS256, ES256 and EdDSA.")
	}
	if t.JWKSURI == "" {
		if _, err := parseKeySet(t.JWKS); err != nil {
			return errors.New("The key set must hold public keys alone, and at least one that can verify a signature.")
		}
	}
	return nil
}
