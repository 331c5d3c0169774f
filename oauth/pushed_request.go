package oauth

// Pushed authorization requests: RFC 9126 §2 (request), §2.2 (answer), §4 (use at the authorization endpoint), §6
// (require_pushed_authorization_requests); RFC 9449 §10.1 (proof with the push).
//
// The client authenticates and every check of the authorization endpoint runs at the push. The browser then brings the
// reference alone. The first browser to bring it opens the request: a stored authorization request takes its place,
// whose id follows from the reference, so that a reload leads to the same page until the person has decided.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
)

const (
	// pushedURN is how a request_uri of ours begins (RFC 9126 §2.2).
	pushedURN = "urn:ietf:params:oauth:request_uri:"
	// pushedLife is how long after the push the browser may come.
	pushedLife = 90 * time.Second
)

// PushedResponse is the answer to a push. Send it with status 201 and Cache-Control: no-store.
type PushedResponse struct {
	RequestURI string `json:"request_uri"`
	// ExpiresIn is in seconds.
	ExpiresIn int64 `json:"expires_in"`
}

// PushAuthorization checks and stores an authorization request that a client sends directly. The error is an *Error,
// for the client. A document client that was never seen is fetched, within the limits for strangers.
func (s *Server) PushAuthorization(ctx context.Context, form url.Values, auth ClientAuthentication) (*PushedResponse, error) {
	response, client, err := s.push(ctx, form, auth)
	step := Step{Name: StepAuthorize, OK: err == nil, ClientID: client, Detail: "pushed"}
	var e *Error
	if err != nil {
		e = storeFailure("push authorization request", err)
		step.Check, step.Reason = e.Check, e.Description
	}
	s.observe(ctx, step)
	if e != nil {
		return nil, e
	}
	return response, nil
}

func (s *Server) push(ctx context.Context, form url.Values, auth ClientAuthentication) (*PushedResponse, string, error) {
	if e := checkSingle(form); e != nil {
		return nil, "", e
	}
	client, _, err := s.proveClient(ctx, auth, s.pushingClient)
	if err != nil {
		return nil, auth.ClientID, err
	}
	if form.Get("request_uri") != "" { // §2.1
		return nil, client.ID, InvalidRequest("A pushed request must not have a request_uri.").WithCheck("request_uri")
	}
	parameters := knownParameters(form)
	if size(parameters) > maxStoredRequest {
		return nil, client.ID, InvalidRequest("The authorization request is too long.").WithCheck("length")
	}
	parameters["client_id"] = []string{client.ID}
	if e := s.bindPushed(ctx, parameters, auth.Proof); e != nil {
		return nil, client.ID, e
	}
	if _, err := s.checkAuthorization(ctx, parameters, true, false); err != nil {
		return nil, client.ID, directError(err)
	}
	id, err := randomString(s.cfg.Rand, secretBytes)
	if err != nil {
		return nil, client.ID, ServerError(err)
	}
	now := s.now()
	pushed := &PushedRequest{ID: id, ClientID: client.ID, Parameters: parameters, CreatedAt: now, ExpiresAt: now.Add(pushedLife)}
	if err := s.stores.Requests.SavePushedRequest(ctx, pushed); err != nil {
		return nil, client.ID, storeFailure("save pushed request", err)
	}
	return &PushedResponse{RequestURI: pushedURN + id, ExpiresIn: int64(pushedLife / time.Second)}, client.ID, nil
}

// bindPushed binds the code to the key of a proof that comes with the push, as dpop_jkt would (RFC 9449 §10.1). The two
// must agree.
func (s *Server) bindPushed(ctx context.Context, parameters map[string][]string, r ProofRequest) *Error {
	if len(r.Headers) == 0 {
		return nil
	}
	p, e := s.checkProof(r)
	if e != nil {
		return e
	}
	stated := parameters["dpop_jkt"]
	if len(stated) > 1 {
		return nil // refused with the other parameters that appear twice
	}
	if len(stated) == 1 && stated[0] != "" && stated[0] != p.thumbprint {
		return badProof("The key of the DPoP proof is not the one that dpop_jkt names.", "jkt")
	}
	if e := s.useProof(ctx, p); e != nil {
		return e
	}
	parameters["dpop_jkt"] = []string{p.thumbprint}
	return nil
}

// directError is an error of the authorization endpoint for a client that is there itself.
func directError(err error) error {
	var toClient *RedirectError
	if errors.As(err, &toClient) {
		return toClient.Err
	}
	return err
}

type strangerKey struct{}

// pushingClient finds the client of a push; there is no person at hand who could vouch for the fetch of a document.
func (s *Server) pushingClient(ctx context.Context, id string) (*Client, error) {
	return s.lookupClient(context.WithValue(ctx, strangerKey{}, true), id, true)
}

func causedByStranger(ctx context.Context) bool {
	stranger, _ := ctx.Value(strangerKey{}).(bool)
	return stranger
}

// isPushed reports whether a request at the authorization endpoint refers to a pushed one.
func isPushed(params url.Values) bool {
	uris := params["request_uri"]
	return len(uris) == 1 && strings.HasPrefix(uris[0], pushedURN)
}

// openPushed begins a pushed request. Of what the browser brings, only client_id and request_uri count (§4).
func (s *Server) openPushed(ctx context.Context, params url.Values, signedIn bool) (*AuthorizationRequest, error) {
	request, err := s.findPushed(ctx, params, signedIn)
	var toClient *RedirectError
	var e *Error
	if err != nil && !errors.As(err, &toClient) && errors.As(err, &e) && e.Check == "request" {
		s.observeRefusal(ctx, StepAuthorize, "", "", params.Get("client_id"), err)
	}
	return request, err
}

func (s *Server) findPushed(ctx context.Context, params url.Values, signedIn bool) (*AuthorizationRequest, error) {
	id := strings.TrimPrefix(params.Get("request_uri"), pushedURN)
	pushed, err := s.stores.Requests.PushedRequest(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, spentRequest()
	}
	if err != nil {
		return nil, storeFailure("read pushed request", err)
	}
	if clients := params["client_id"]; len(clients) != 1 || clients[0] != pushed.ClientID {
		return nil, spentRequest()
	}
	if pushed.OpenedAt == nil {
		opened, err := s.firstOpen(ctx, pushed, signedIn)
		if !errors.Is(err, ErrUsed) {
			return opened, err
		}
	}
	request, err := s.stores.Requests.Request(ctx, openedID(id))
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, spentRequest()
	case err != nil:
		return nil, storeFailure("read authorization request", err)
	case request.DecidedAt != nil || !request.ExpiresAt.After(s.now()):
		return nil, spentRequest()
	}
	return request, nil
}

// firstOpen puts a stored authorization request into the place of a pushed one. ErrUsed says that another did so first.
func (s *Server) firstOpen(ctx context.Context, pushed *PushedRequest, signedIn bool) (*AuthorizationRequest, error) {
	now := s.now()
	if !pushed.ExpiresAt.After(now) {
		return nil, spentRequest()
	}
	r, err := s.admit(ctx, pushed.Parameters, true, signedIn)
	if err != nil {
		return nil, err
	}
	request := &AuthorizationRequest{
		ID: openedID(pushed.ID), Parameters: pushed.Parameters, ClientID: pushed.ClientID, Pushed: true,
		CreatedAt: now, ExpiresAt: now.Add(requestLife), BrowserHash: browserHash(ctx),
	}
	err = s.stores.Requests.OpenPushedRequest(ctx, pushed.ID, now, request)
	switch {
	case errors.Is(err, ErrUsed):
		return nil, ErrUsed
	case errors.Is(err, ErrNotFound):
		return nil, spentRequest()
	case err != nil:
		return nil, storeFailure("open pushed request", err)
	}
	s.observeBegun(ctx, request, r)
	return request, nil
}

func spentRequest() *Error {
	return InvalidRequest("The request_uri is unknown, was used or has expired. Start again from the app.").WithCheck("request")
}

// openedID is the id of the stored request behind a reference.
func openedID(id string) string {
	return base64.RawURLEncoding.EncodeToString(HashSecret("opened request " + id))
}

// readPushed reads whether the client always pushes (§6).
func (m clientMetadata) readPushed(c *Client) error {
	const name = "require_pushed_authorization_requests"
	if m.has(name) && json.Unmarshal(m[name], &c.RequirePushed) != nil {
		return wrongType(name, "true or false")
	}
	return nil
}
