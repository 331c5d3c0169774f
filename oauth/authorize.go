package oauth

// The authorization endpoint without HTTP: OAuth 2.1 §4.1.1, §7.9 (consent), §7.13.2 (open redirectors); OpenID Connect
// Core §3.1.2.3 (prompt, max_age).
//
// BeginAuthorization stores the request, ResumeAuthorization says what it waits for, Decide ends it. Every step checks
// the stored parameters anew, because a client can be blocked or change in between. Consent is asked for each time: what
// attacks on clients without an assured identity need is silent approval (RFC 8252 §8.6).

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// maxStoredRequest bounds what a stranger can have stored with one request, in bytes.
const maxStoredRequest = 16 << 10

// requestLife is how long a person may take from request to decision.
const requestLife = 10 * time.Minute

// BeginAuthorization checks and stores an authorization request. The error is an *Error, to be shown, or a
// *RedirectError, to be sent to the client; while nobody is signed in the latter is Untrusted, since nobody may be sent
// anywhere before having signed in, except where prompt=none asks for just that.
//
// A client whose document would have to be fetched is not looked at while nobody is signed in: then the request is
// stored unchecked, and ResumeAuthorization checks it.
func (s *Server) BeginAuthorization(ctx context.Context, params url.Values, signedIn bool) (*AuthorizationRequest, error) {
	if isPushed(params) {
		return s.openPushed(ctx, params, signedIn)
	}
	r, err := s.admit(ctx, params, false, signedIn)
	if err != nil {
		return nil, err
	}
	request, err := s.storeRequest(ctx, params)
	if err != nil {
		return nil, err
	}
	s.observeBegun(ctx, request, r)
	return request, nil
}

// admit checks a request as it comes. Without an error the checked request is nil where it could not be looked at yet.
func (s *Server) admit(ctx context.Context, params url.Values, pushed, signedIn bool) (*checkedRequest, error) {
	r, err := s.checkAuthorization(ctx, params, pushed, signedIn)
	if errors.Is(err, errNeedsFetch) && params.Get("prompt") == "none" {
		err = LoginRequired().WithCheck("prompt") // shown: where the answer would go is not proven
	}
	if err == nil && !signedIn && slices.Contains(r.prompt, "none") {
		err = r.redirectError(LoginRequired().WithCheck("prompt"))
	} else if toClient := (*RedirectError)(nil); errors.As(err, &toClient) && !signedIn {
		toClient.Untrusted = true
	}
	if errors.Is(err, errNeedsFetch) {
		return nil, nil
	}
	if err != nil {
		s.observeRefusal(ctx, StepAuthorize, "", "", params.Get("client_id"), err)
		return nil, err
	}
	return r, nil
}

func (s *Server) observeBegun(ctx context.Context, request *AuthorizationRequest, r *checkedRequest) {
	detail := "client document not fetched yet"
	if r != nil {
		detail = redirectHost(r.redirectURI)
	}
	s.observe(ctx, Step{
		Name: StepAuthorize, OK: true, ClientID: request.ClientID, RequestID: request.Correlation(), Detail: detail,
	})
}

func (s *Server) storeRequest(ctx context.Context, params url.Values) (*AuthorizationRequest, error) {
	known := knownParameters(params)
	if size(known) > maxStoredRequest {
		return nil, InvalidRequest("The authorization request is too long.").WithCheck("length")
	}
	id, err := randomString(s.cfg.Rand, secretBytes)
	if err != nil {
		return nil, ServerError(err)
	}
	now := s.now()
	request := &AuthorizationRequest{
		ID: id, Parameters: known, ClientID: params.Get("client_id"),
		CreatedAt: now, ExpiresAt: now.Add(requestLife), BrowserHash: browserHash(ctx),
	}
	if err := s.stores.Requests.SaveRequest(ctx, request); err != nil {
		return nil, storeFailure("save authorization request", err)
	}
	return request, nil
}

// knownParameters drops what nobody will read: unknown parameters are not worth a row's space.
func knownParameters(params url.Values) map[string][]string {
	known := map[string][]string{}
	for _, name := range append([]string{"resource"}, authorizeParameters...) {
		if values := params[name]; len(values) > 0 {
			known[name] = slices.Clone(values)
		}
	}
	return known
}

func size(params map[string][]string) int {
	n := 0
	for _, values := range params {
		for _, v := range values {
			n += len(v)
		}
	}
	return n
}

// ResumeAuthorization says what a stored request waits for. The error is an *Error, to be shown, or a *RedirectError.
func (s *Server) ResumeAuthorization(ctx context.Context, id string, who ResourceOwner) (*Prompt, error) {
	request, err := s.loadRequest(ctx, id)
	if err != nil {
		return nil, err
	}
	prompt := &Prompt{RequestID: id, Correlation: request.Correlation(), ExpiresAt: request.ExpiresAt}
	if request.DecidedAt != nil {
		prompt.Next, prompt.Outcome = NextDecided, request.Outcome
		return prompt, nil
	}
	if !request.ExpiresAt.After(s.now()) {
		err := expiredRequest()
		s.observeRefusal(ctx, StepAuthorize, request.Correlation(), who.UserID, request.ClientID, err)
		return nil, err
	}
	r, err := s.checkAuthorization(ctx, request.Parameters, request.Pushed, who.SignedIn())
	if errors.Is(err, errNeedsFetch) {
		prompt.Next = NextSignIn
		return prompt, nil
	}
	if err == nil {
		err = s.next(prompt, r, request, who)
	}
	if err == nil && prompt.Next == NextConsent && r.client.Kind == ClientDocument {
		prompt.NewHost, err = s.isNewHost(ctx, r.client.Host)
	}
	if toClient := (*RedirectError)(nil); errors.As(err, &toClient) && !who.SignedIn() && toClient.Err.Code != "login_required" {
		toClient.Untrusted = true
	}
	if err != nil {
		s.observeRefusal(ctx, StepAuthorize, request.Correlation(), who.UserID, request.ClientID, err)
		return nil, err
	}
	if prompt.Next == NextConsent {
		s.observe(ctx, Step{
			Name: StepConsentShown, OK: true, ClientID: r.client.ID, RequestID: request.Correlation(), UserID: who.UserID,
			Detail: prompt.RedirectHost,
		})
	}
	return prompt, nil
}

func (s *Server) loadRequest(ctx context.Context, id string) (*AuthorizationRequest, error) {
	request, err := s.stores.Requests.Request(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, InvalidRequest("The authorization request is unknown. Start again from the app.").WithCheck("request")
	}
	if err != nil {
		return nil, storeFailure("read authorization request", err)
	}
	if e := s.checkBrowser(ctx, request); e != nil {
		return nil, e
	}
	return request, nil
}

func expiredRequest() *Error {
	return InvalidRequest("The authorization request has expired. Start again from the app.").WithCheck("request")
}

// next fills the prompt in and decides between sign-in and consent.
func (s *Server) next(p *Prompt, r *checkedRequest, request *AuthorizationRequest, who ResourceOwner) error {
	if err := r.checkGrantOwner(who); err != nil {
		return err
	}
	silent := slices.Contains(r.prompt, "none")
	demanded := demandNothing
	if who.SignedIn() {
		demanded = s.demands(r, who, request.CreatedAt)
	}
	p.Next = NextConsent
	if demanded == demandMore {
		return r.redirectError(UnmetAuthentication().WithCheck("acr_values"))
	} else if !who.SignedIn() || demanded != demandNothing {
		if silent {
			return r.redirectError(LoginRequired().WithCheck("prompt"))
		}
		p.Next, p.ReauthenticationDemanded = NextSignIn, demanded != demandNothing
		p.StrongerDemanded = demanded == demandStronger || !who.SignedIn() && r.leastRank > 0
	} else if silent {
		return r.redirectError(ConsentRequired().WithCheck("prompt"))
	}
	p.Client, p.Resource = r.client, r.resource
	p.Verified = r.client.Kind != ClientDynamic
	p.LoginHint = r.loginHint
	p.RedirectURI, p.RedirectHost = r.redirectURI, redirectHost(r.redirectURI)
	p.RedirectLoopback = isLoopbackRedirect(r.redirectURI)
	p.RedirectPrivateScheme = isPrivateScheme(r.redirectURI)
	p.ScopeAsked, p.Requested, p.Offered = r.scopeAsked, r.requested, r.offered()
	p.Details, p.GrantAction, p.Grant = r.details, r.grantAction, r.grant
	return nil
}

// isNewHost reports whether nobody ever connected a client from this host.
func (s *Server) isNewHost(ctx context.Context, host string) (bool, error) {
	seen, err := s.stores.Clients.HostHasConnection(ctx, host)
	if err != nil {
		return false, storeFailure("look for connections", err)
	}
	return !seen, nil
}

func isPrivateScheme(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && u.Scheme != "https" && u.Scheme != "http"
}

// observeRefusal tells of a refused step what is known of it.
func (s *Server) observeRefusal(ctx context.Context, step, correlation, userID, clientID string, err error) {
	var e *Error
	if !errors.As(err, &e) {
		e = ServerError(fmt.Errorf("unexpected error: %w", err))
	}
	s.observe(ctx, Step{
		Name: step, ClientID: clientID, RequestID: correlation, UserID: userID, Check: e.Check, Reason: e.Description,
	})
}
