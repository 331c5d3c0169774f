package oauth

// The decision of the resource owner and the answer to the client: OAuth 2.1 §4.1.2, §4.1.2.1; RFC 9207 §2 (iss);
// OAuth 2.1 §7.13.2.

import (
	"context"
	"errors"
	"net/url"
	"slices"
)

// ErrNoScope says that a person pressed Allow with no scope ticked: show the page again and say so.
var ErrNoScope = errors.New("oauth: nothing was ticked")

// Decide ends a stored request: it makes a code or says no. One decision wins; the others get ErrUsed, which is to be
// shown as the friendly state that ResumeAuthorization describes. Allow with nothing ticked gives ErrNoScope and leaves
// the request open. Other errors are *Error, to be shown, or *RedirectError.
func (s *Server) Decide(ctx context.Context, id string, who ResourceOwner, d Decision) (*AuthorizationResponse, error) {
	request, err := s.loadRequest(ctx, id)
	if err != nil {
		return nil, err
	}
	if request.DecidedAt != nil {
		return nil, ErrUsed
	}
	now := s.now()
	if !request.ExpiresAt.After(now) {
		return nil, expiredRequest()
	}
	if !who.SignedIn() {
		return nil, LoginRequired().WithCheck("sign_in")
	}
	r, err := s.checkAuthorization(ctx, request.Parameters, request.Pushed, true)
	if err == nil {
		err = r.checkGrantOwner(who)
	}
	if err != nil {
		s.observeRefusal(ctx, StepDecision, request.Correlation(), who.UserID, request.ClientID, err)
		return nil, err
	}
	if s.demands(r, who, request.CreatedAt) != demandNothing {
		return nil, LoginRequired().WithCheck("sign_in")
	}
	if !d.Allow {
		return s.deny(ctx, request, r, who, d.Refusal)
	}
	return s.allow(ctx, request, r, who, d)
}

func (s *Server) deny(ctx context.Context, request *AuthorizationRequest, r *checkedRequest, who ResourceOwner, reason string) (*AuthorizationResponse, error) {
	if reason == "" {
		reason = "The resource owner denied the request."
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	if err := s.decide(ctx, request.ID, OutcomeDenied, nil); err != nil {
		return nil, err
	}
	refusal := r.redirectError(AccessDenied(reason).WithCheck("consent"))
	location := refusal.Location(s.cfg.Issuer)
	s.observe(ctx, Step{
		Name: StepDecision, OK: true, ClientID: r.client.ID, RequestID: request.Correlation(), UserID: who.UserID,
		Detail: OutcomeDenied,
	})
	return &AuthorizationResponse{
		RedirectURI: location, Host: redirectHost(r.redirectURI), Denied: true, Untrusted: refusal.Untrusted,
		ClientID: r.client.ID,
	}, nil
}

func (s *Server) allow(ctx context.Context, request *AuthorizationRequest, r *checkedRequest, who ResourceOwner, d Decision) (*AuthorizationResponse, error) {
	now := s.now()
	scopes := r.granted(d.Scopes)
	if len(scopes) == 0 {
		return nil, ErrNoScope
	}
	if d.ExpiresAt != nil && !d.ExpiresAt.After(now) {
		return nil, InvalidRequest("The chosen end of the connection has passed.").WithCheck("expires_at")
	}
	if r.grantAction == GrantMerge {
		scopes = r.resource.expand(append(slices.Clone(r.grant.Scopes), scopes...))
	}
	details, e := s.grantedDetails(r, d)
	if e != nil {
		return nil, e
	}
	secret, code, err := s.newCode(request, r, who)
	if err != nil {
		return nil, err
	}
	a := &code.Approval
	a.Scopes, a.Terms, a.ExpiresAt, a.Details, a.GrantAction = scopes, d.Terms, d.ExpiresAt, details, r.grantAction
	if r.grant != nil {
		a.GrantID = r.grant.ID
	}
	location, err := redirectLocation(r.redirectURI, r.answer(s.cfg.Issuer, "code", secret))
	if err != nil {
		return nil, ServerError(err)
	}
	if code.AnswerSealed, err = sealUnder(s.cfg.Rand, answerInfo, request.ID, location); err != nil {
		return nil, ServerError(err)
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	if err := s.decide(ctx, request.ID, OutcomeAllowed, code); err != nil {
		return nil, err
	}
	host := redirectHost(r.redirectURI)
	s.observe(ctx, Step{
		Name: StepDecision, OK: true, ClientID: r.client.ID, RequestID: request.Correlation(), UserID: who.UserID,
		Detail: OutcomeAllowed + ", answer to " + host,
	})
	return &AuthorizationResponse{RedirectURI: location, Host: host, ClientID: r.client.ID}, nil
}

// decide claims the request.
func (s *Server) decide(ctx context.Context, id, outcome string, code *AuthorizationCode) error {
	err := s.stores.Requests.DecideRequest(ctx, id, outcome, s.now(), code)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUsed):
		return ErrUsed
	case errors.Is(err, ErrNotFound):
		return expiredRequest()
	case errors.Is(err, ErrEnded):
		return LoginRequired().WithCheck("sign_in")
	}
	return storeFailure("decide authorization request", err)
}

// granted is what the ticks amount to: those that were offered, with all that they include.
func (r *checkedRequest) granted(ticked []string) []string {
	var chosen []string
	for _, offer := range r.offered() {
		if slices.Contains(ticked, offer.Name) {
			chosen = append(chosen, offer.Name)
		}
	}
	return r.resource.expand(chosen)
}

// answer lists the parameters of a successful answer.
func (r *checkedRequest) answer(issuer, name, value string) url.Values {
	parameters := url.Values{name: {value}, "iss": {issuer}}
	if r.hasState {
		parameters.Set("state", r.state)
	}
	return parameters
}

// Location is the redirect URI with error, error_description, state and iss appended. It is empty when no safe address
// can be built, which the checks of the request exclude; then show the error.
func (r *RedirectError) Location(issuer string) string {
	parameters := url.Values{"error": {r.Err.Code}, "iss": {issuer}}
	if r.Err.Description != "" {
		parameters.Set("error_description", r.Err.Description)
	}
	if r.HasState {
		parameters.Set("state", r.State)
	}
	location, err := redirectLocation(r.RedirectURI, parameters)
	if err != nil {
		return ""
	}
	return location
}

// Host is the host (or private-use scheme) of the redirect URI, to be shown.
func (r *RedirectError) Host() string { return redirectHost(r.RedirectURI) }
