package oauth

// The authorization request: OAuth 2.1 §3.1 (parameters), §4.1.1; RFC 8707 §2 (resource); OpenID Connect Core §3.1.2.1
// (prompt, max_age, login_hint) and §6 (request objects, refused). Left out: response modes other than query.
//
// The order of the checks is the protection (§4.1.2.1): client, then redirect URI, and only then the rest, since an
// error about the rest goes to the redirect URI.

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// authorizeParameters are the parameters that may appear once at most. Others are ignored, however often they appear;
// resource may repeat.
var authorizeParameters = []string{
	"client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "code_challenge",
	"code_challenge_method", "prompt", "max_age", "login_hint", "nonce", "request", "request_uri",
	"dpop_jkt", "acr_values", "authorization_details", "grant_management_action", "grant_id",
}

// checkedRequest is an authorization request that passed every check.
type checkedRequest struct {
	client      *Client
	redirectURI string
	state       string
	hasState    bool
	challenge   string
	// keyThumbprint is dpop_jkt.
	keyThumbprint string
	resource      *Resource
	scopeAsked    bool
	requested     []string
	prompt        []string
	maxAge        time.Duration // negative when absent
	loginHint     string
	nonce         string
	// leastRank is the strength that acr_values demands, negative when it demands none.
	leastRank int
	// identityOnly says that the client wants to know who signs in and nothing else.
	identityOnly bool
	// details are the authorization details in normal form, nil for none.
	details json.RawMessage
	// grantAction is grant_management_action, and grant the connection of grant_id.
	grantAction string
	grant       *Connection
}

// checkAuthorization runs every check on the parameters. Errors are *Error until client and redirect URI are proven and
// *RedirectError afterwards. errNeedsFetch says that only a signed-in person may have the client looked at.
func (s *Server) checkAuthorization(ctx context.Context, params url.Values, pushed, fetch bool) (*checkedRequest, error) {
	for _, name := range []string{"client_id", "redirect_uri"} {
		if len(params[name]) > 1 {
			return nil, InvalidRequest("A parameter appears twice: " + name).WithCheck(name)
		}
	}
	client, err := s.authorizationClient(ctx, params.Get("client_id"), fetch)
	if err != nil {
		return nil, err
	}
	redirectURI, refused := selectRedirectURI(client, params.Get("redirect_uri"))
	if refused != nil {
		return nil, refused
	}
	p, err := s.policy(ctx)
	if err != nil {
		return nil, err
	}
	if refused := p.checkRedirectHost(client, redirectURI); refused != nil {
		return nil, refused
	}
	if _, err := redirectLocation(redirectURI, nil); err != nil {
		return nil, InvalidRequest("The redirect_uri cannot be used.").WithCheck("redirect_uri").WithCause(err)
	}
	r := &checkedRequest{client: client, redirectURI: redirectURI, maxAge: -1, loginHint: params.Get("login_hint")}
	if states := params["state"]; len(states) == 1 {
		// An empty state is sent back like any other: it is the client's value, byte for byte.
		r.state, r.hasState = states[0], true
	}
	if (client.RequirePushed || client.Settings.RequirePushed) && !pushed {
		return nil, r.redirectError(InvalidRequest("This client must push its authorization requests.").WithCheck("request_uri"))
	}
	if refused := s.checkRest(ctx, r, params); refused != nil {
		return nil, r.redirectError(refused)
	}
	return r, nil
}

// redirectError makes the error that goes back to the client. Nothing is known of a client that registered itself, so
// that its redirect URI is not followed on an error: the server would be an open redirector (§7.13.2).
func (r *checkedRequest) redirectError(e *Error) *RedirectError {
	return &RedirectError{
		Err: e, ClientID: r.client.ID, RedirectURI: r.redirectURI, State: r.state, HasState: r.hasState,
		Untrusted: r.client.Kind == ClientDynamic,
	}
}

// authorizationClient finds the client of a request; every refusal is for a page.
func (s *Server) authorizationClient(ctx context.Context, id string, fetch bool) (*Client, error) {
	if id == "" {
		return nil, InvalidRequest("The client_id is missing.").WithCheck("client")
	}
	client, err := s.lookupClient(ctx, id, fetch)
	if errors.Is(err, errNeedsFetch) {
		return nil, err
	}
	if err != nil {
		e := storeFailure("look up client", err)
		if e.Check == "" {
			e.Check = "client"
		}
		if e.Code == "invalid_client" {
			e.Status, e.Challenge = 400, "" // no client authentication takes place here
		}
		return nil, e
	}
	if client.BlockedAt != nil {
		e := InvalidClient("The client is blocked.").WithCheck("client")
		e.Status = 400
		return nil, e
	}
	if client.PendingAt != nil {
		return nil, clientPending()
	}
	return client, nil
}

func clientPending() *Error {
	return UnauthorizedClient("The client waits for the administrator of this server.").WithCheck("client_pending")
}

// checkRest checks what is reported to the redirect URI.
func (s *Server) checkRest(ctx context.Context, r *checkedRequest, params url.Values) *Error {
	for _, name := range authorizeParameters {
		if len(params[name]) > 1 {
			return InvalidRequest("A parameter appears twice: " + name).WithCheck(name)
		}
	}
	if e := checkResponse(r.client, params); e != nil {
		return e
	}
	if e := checkChallenge(params.Get("code_challenge"), params.Get("code_challenge_method")); e != nil {
		return e
	}
	r.challenge = params.Get("code_challenge")
	if r.nonce = params.Get("nonce"); len(r.nonce) > maxNonce || !utf8.ValidString(r.nonce) || strings.ContainsRune(r.nonce, 0) {
		return InvalidRequest("The nonce is too long or no text.").WithCheck("nonce")
	}
	r.leastRank = s.leastRank(params.Get("acr_values"))
	if r.keyThumbprint = params.Get("dpop_jkt"); r.keyThumbprint != "" && !isThumbprint(r.keyThumbprint) { // RFC 9449 §10
		return InvalidRequest("The dpop_jkt must be a SHA-256 thumbprint: 43 base64url characters.").WithCheck("dpop_jkt")
	}
	if e := s.checkTarget(r, params); e != nil {
		return e
	}
	var e *Error
	if r.details, e = s.readDetails(params.Get("authorization_details"), r.resource.URI); e != nil {
		return e
	}
	if e := s.checkGrantAction(ctx, r, params); e != nil {
		return e
	}
	return checkPrompt(r, params)
}

// checkResponse checks the kind of answer asked for.
func checkResponse(client *Client, params url.Values) *Error {
	switch {
	case params.Get("request") != "":
		return RequestNotSupported().WithCheck("request")
	case params.Get("request_uri") != "":
		return RequestURINotSupported().WithCheck("request_uri")
	}
	switch params.Get("response_type") {
	case "code":
	case "":
		return InvalidRequest("The response_type is missing.").WithCheck("response_type")
	default:
		return UnsupportedResponseType("The response_type must be code.").WithCheck("response_type")
	}
	if mode := params.Get("response_mode"); mode != "" && mode != "query" {
		return InvalidRequest("The response_mode must be query.").WithCheck("response_mode")
	}
	if !client.HasGrantType(GrantAuthorizationCode) {
		return UnauthorizedClient("The client is not registered for the authorization code grant.").WithCheck("grant_type")
	}
	return nil
}

// checkTarget settles resource and scopes.
func (s *Server) checkTarget(r *checkedRequest, params url.Values) *Error {
	scopes, err := parseScope(params.Get("scope"))
	if err != nil {
		return storeFailure("parse scope", err)
	}
	resource, refused := s.resolveResource(params["resource"], scopes)
	if refused != nil {
		return refused
	}
	if r.client.Kind != ClientRegistered { // to other clients reserved scopes are unknown ones
		asked := len(scopes)
		if scopes = slices.DeleteFunc(scopes, resource.reserved); len(scopes) == 0 && asked > 0 {
			return InvalidScope("These scopes are not open to this client.").WithCheck("scope")
		}
	}
	identity, rest := resource.splitIdentity(scopes)
	chosen, refused := resource.chooseScopes(rest)
	if refused != nil && len(identity) == 0 {
		return refused
	}
	r.resource = resource
	r.scopeAsked = slices.ContainsFunc(rest, resource.Known)
	if r.scopeAsked {
		r.requested = chosen
	}
	r.identityOnly = len(identity) > 0 && !r.scopeAsked && !slices.ContainsFunc(params["resource"], func(v string) bool { return v != "" })
	r.requested = append(r.requested, identity...)
	return nil
}

// checkPrompt reads prompt and max_age. Unknown prompt values are ignored.
func checkPrompt(r *checkedRequest, params url.Values) *Error {
	r.prompt = strings.Fields(params.Get("prompt"))
	if slices.Contains(r.prompt, "none") && len(r.prompt) > 1 {
		return InvalidRequest("The prompt value none stands alone.").WithCheck("prompt")
	}
	age := params.Get("max_age")
	if age == "" {
		return nil
	}
	seconds, err := strconv.ParseUint(age, 10, 31)
	if err != nil {
		return InvalidRequest("The max_age must be a number of seconds.").WithCheck("max_age")
	}
	r.maxAge = time.Duration(seconds) * time.Second
	return nil
}

// offered lists the scopes of the consent page: always the whole list, so that a person can give more than a client that
// read only the baseline knew to ask for. What was asked is ticked, or the baseline when nothing was; more than the
// baseline is never ticked beforehand for a client of which nothing is known. RFC 6749 §3.3 lets the granted scope
// differ from the requested one; the token answer states it.
//
// Who somebody is, is offered only to clients that ask, and alone to those that ask for nothing else.
func (r *checkedRequest) offered() []OfferedScope {
	asked := r.resource.expand(r.requested)
	var offered []OfferedScope
	for _, scope := range r.resource.Scopes {
		if scope.Identity {
			if slices.Contains(asked, scope.Name) {
				ticked := scope.Name == ScopeOpenID || r.client.Kind != ClientDynamic
				offered = append(offered, OfferedScope{Name: scope.Name, Ticked: ticked})
			}
			continue
		}
		if r.identityOnly || scope.Reserved && !slices.Contains(r.requested, scope.Name) {
			continue
		}
		ticked := slices.Contains(asked, scope.Name) && (scope.Baseline || r.client.Kind != ClientDynamic)
		if !r.scopeAsked {
			ticked = scope.Baseline
		}
		offered = append(offered, OfferedScope{Name: scope.Name, Ticked: ticked})
	}
	return offered
}
