package oauth

// The device grant: RFC 8628 §3.1 to §3.5, §5 and §6.1 (codes); RFC 10027 (short, single use, clients on a list). A device
// without a browser gets two codes; the person enters the short one in a browser of theirs and decides there, while the
// device asks for the answer with the long one.

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// PathDeviceAuthorization is the device authorization endpoint, PathDevice the page that people open.
	PathDeviceAuthorization = "/device_authorization"
	PathDevice              = "/device"

	prefixDeviceCode = "gtd_"
	deviceLife       = 10 * time.Minute
	deviceInterval   = 5 * time.Second
	// deviceSlack forgives a device whose timer or network is a little fast.
	deviceSlack = time.Second
	// userCodeLetters are those of RFC 8628 §6.1: no vowels, so that no words come about, and no letters that look like
	// digits. Eight of them are 34 bits, which is enough for ten minutes of throttled tries.
	userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"
	userCodeLength  = 8
	// userCodeTries is how often a code that somebody has already is replaced.
	userCodeTries = 5
)

// DeviceRequest is a stored request of a device.
type DeviceRequest struct {
	// Hash is the SHA-256 of the device code, UserCodeHash the HMAC of the user code: that one is short, so that a plain
	// hash could be tried out.
	Hash, UserCodeHash []byte
	ClientID, Resource string
	// Requested are the known scopes asked for; none when the client asked for none.
	Requested []string
	// Address and DeviceHint say where the request came from, to be shown.
	Address, DeviceHint  string
	CreatedAt, ExpiresAt time.Time
	// Interval is the least time between two polls, NextPollAt when the next may come.
	Interval   time.Duration
	NextPollAt time.Time
	// DecidedAt is set by the one decision, Outcome says how, and Approval what was allowed.
	DecidedAt *time.Time
	Outcome   string
	Approval  Approval
	// UsedAt is set when the tokens were fetched.
	UsedAt *time.Time
}

// Correlation names the request in logs and in the record of attempts without giving a code away.
func (d *DeviceRequest) Correlation() string { return RequestCorrelation("device " + string(d.Hash)) }

// DeviceStore keeps requests of devices.
type DeviceStore interface {
	// SaveDeviceRequest stores a new request. ErrConflict when another one has its user code.
	SaveDeviceRequest(ctx context.Context, d *DeviceRequest) error
	// DeviceRequest returns the request of a device code's hash, or ErrNotFound. Expired rows are returned too.
	DeviceRequest(ctx context.Context, hash []byte) (*DeviceRequest, error)
	// DeviceRequestByUserCode does the same for the hash of a user code.
	DeviceRequestByUserCode(ctx context.Context, userCodeHash []byte) (*DeviceRequest, error)
	// PollDevice notes a poll. One that came before NextPollAt gives early and raises the interval by step, for good. The
	// next poll may come an interval less slack later.
	PollDevice(ctx context.Context, hash []byte, at time.Time, step, slack time.Duration) (early bool, err error)
	// DecideDevice stores the decision by one conditional UPDATE; approval is nil for a denial. A request decided before
	// or expired gives ErrUsed, a sign-in that has ended ErrEnded.
	DecideDevice(ctx context.Context, userCodeHash []byte, at time.Time, approval *Approval, signIn string) error
	// RedeemDevice is CodeStore.RedeemCode for an allowed request; CodeHash is its Hash.
	RedeemDevice(ctx context.Context, r Redemption) (*Connection, error)
}

// DeviceAuthorization is the answer to a device (RFC 8628 §3.2). Send it with Cache-Control: no-store.
type DeviceAuthorization struct {
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int64  `json:"expires_in"`
	Interval                int64  `json:"interval"`
}

// DevicePrompt is what to show the person who entered a user code.
type DevicePrompt struct {
	Prompt
	// UserCode is the code as it is shown, Address and DeviceHint are where the request came from.
	UserCode, Address, DeviceHint string
	CreatedAt                     time.Time
}

func (s *Server) devicesOn() bool { return s.stores.Devices != nil && len(s.cfg.DeviceKey) > 0 }

// AuthorizeDevice answers a device authorization request. address is where it came from. The error is an *Error.
func (s *Server) AuthorizeDevice(ctx context.Context, form url.Values, auth ClientAuthentication, address string) (*DeviceAuthorization, error) {
	if e := checkSingle(form); e != nil {
		return nil, e
	}
	client, err := s.AuthenticateClient(ctx, auth)
	if err != nil {
		return nil, storeFailure("authenticate client", err)
	}
	answer, request, err := s.authorizeDevice(ctx, client, form, address)
	if err != nil {
		s.observeRefusal(ctx, StepAuthorize, "", "", client.ID, err)
		return nil, err
	}
	s.observe(ctx, Step{Name: StepAuthorize, OK: true, ClientID: client.ID, RequestID: request.Correlation(), Detail: "device"})
	return answer, nil
}

func (s *Server) authorizeDevice(ctx context.Context, client *Client, form url.Values, address string) (*DeviceAuthorization, *DeviceRequest, error) {
	if client.BlockedAt != nil {
		return nil, nil, InvalidClient("The client is blocked.").WithCheck("client")
	}
	if client.PendingAt != nil {
		return nil, nil, clientPending()
	}
	if !s.devicesOn() || !client.DeviceGrant {
		return nil, nil, UnauthorizedClient("The client may not use the device grant. An administrator can allow it.").WithCheck("grant_type")
	}
	scopes, err := parseScope(form.Get("scope"))
	if err != nil {
		return nil, nil, err
	}
	target := &checkedRequest{client: client}
	if e := s.checkTarget(target, url.Values{"scope": {formatScope(scopes)}, "resource": form["resource"]}); e != nil {
		return nil, nil, e
	}
	now := s.now()
	code, hash, err := newSecret(s.cfg.Rand, prefixDeviceCode)
	if err != nil {
		return nil, nil, ServerError(err)
	}
	request := &DeviceRequest{
		Hash: hash, ClientID: client.ID, Resource: target.resource.URI, Requested: target.requested, Address: address,
		DeviceHint: deviceHint(ctx), CreatedAt: now, ExpiresAt: now.Add(deviceLife), Interval: deviceInterval, NextPollAt: now,
	}
	userCode, e := s.saveDevice(ctx, request)
	if e != nil {
		return nil, nil, e
	}
	page := s.cfg.Issuer + PathDevice
	return &DeviceAuthorization{
		DeviceCode: code, UserCode: userCode, VerificationURI: page, VerificationURIComplete: page + "?user_code=" + userCode,
		ExpiresIn: int64(deviceLife / time.Second), Interval: int64(deviceInterval / time.Second),
	}, request, nil
}

// saveDevice stores the request under a user code that nobody has.
func (s *Server) saveDevice(ctx context.Context, request *DeviceRequest) (string, *Error) {
	for range userCodeTries {
		userCode, err := newUserCode(s.cfg.Rand)
		if err != nil {
			return "", ServerError(err)
		}
		request.UserCodeHash = s.userCodeHash(userCode)
		err = s.stores.Devices.SaveDeviceRequest(ctx, request)
		if err == nil {
			return userCode, nil
		}
		if !errors.Is(err, ErrConflict) {
			return "", storeFailure("save device request", err)
		}
	}
	return "", TemporarilyUnavailable(errors.New("no free user code"))
}

// newUserCode makes a code in the form in which it is shown. Bytes beyond the last whole multiple of the alphabet are
// drawn again, so that every letter is equally likely.
func newUserCode(rand io.Reader) (string, error) {
	const letters = len(userCodeLetters)
	var code strings.Builder
	buf := make([]byte, 1)
	for n := 0; n < userCodeLength; {
		if _, err := io.ReadFull(rand, buf); err != nil {
			return "", fmt.Errorf("read random bytes: %w", err)
		}
		if int(buf[0]) >= 256/letters*letters {
			continue
		}
		if n == userCodeLength/2 {
			code.WriteByte('-')
		}
		code.WriteByte(userCodeLetters[int(buf[0])%letters])
		n++
	}
	return code.String(), nil
}

// CleanUserCode brings what a person typed into the form in which codes are shown: case, spaces and punctuation do not
// matter (RFC 8628 §6.1). It gives "" for what cannot be a code.
func CleanUserCode(typed string) string {
	if len(typed) > 64 {
		return ""
	}
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, typed)
	if len(letters) != userCodeLength || strings.Trim(letters, userCodeLetters) != "" {
		return ""
	}
	return letters[:userCodeLength/2] + "-" + letters[userCodeLength/2:]
}

func (s *Server) userCodeHash(userCode string) []byte {
	mac := hmac.New(sha256.New, s.cfg.DeviceKey)
	mac.Write([]byte("user code " + userCode))
	return mac.Sum(nil)
}

// errUserCode is the one answer to a code that is wrong, expired, or decided already: whoever tries codes learns nothing.
func errUserCode() *Error {
	return InvalidRequest("This code is wrong or has expired.").WithCheck("user_code")
}

// openDevice finds the undecided request of a user code.
func (s *Server) openDevice(ctx context.Context, typed string) (*DeviceRequest, string, *Error) {
	userCode := CleanUserCode(typed)
	if !s.devicesOn() || userCode == "" {
		return nil, "", errUserCode()
	}
	request, err := s.stores.Devices.DeviceRequestByUserCode(ctx, s.userCodeHash(userCode))
	if errors.Is(err, ErrNotFound) {
		return nil, "", errUserCode()
	}
	if err != nil {
		return nil, "", storeFailure("read device request", err)
	}
	if request.DecidedAt != nil || !request.ExpiresAt.After(s.now()) {
		return nil, "", errUserCode()
	}
	return request, userCode, nil
}

// checkDevice checks the client of a stored request anew: it can be blocked or lose the grant in between.
func (s *Server) checkDevice(ctx context.Context, request *DeviceRequest) (*checkedRequest, *Error) {
	client, err := s.backChannelClient(ctx, request.ClientID)
	if err != nil {
		return nil, storeFailure("look up client", err)
	}
	if client.PendingAt != nil {
		return nil, clientPending()
	}
	if client.BlockedAt != nil || !client.DeviceGrant {
		return nil, UnauthorizedClient("The client may not use the device grant any more.").WithCheck("client")
	}
	resource := s.resource(request.Resource)
	if resource == nil {
		return nil, InvalidTarget("The resource of this request is not served any more.").WithCheck("resource_gone")
	}
	return &checkedRequest{client: client, resource: resource, scopeAsked: len(request.Requested) > 0, requested: request.Requested}, nil
}

// PromptDevice says what to show a signed-in person who entered a user code. Whoever holds the code of somebody else's
// device may be made to approve it, so nothing beyond the baseline is ticked. The error is an *Error; its Check is
// user_code when there is no such request.
func (s *Server) PromptDevice(ctx context.Context, typed string, who ResourceOwner) (*DevicePrompt, error) {
	request, userCode, e := s.openDevice(ctx, typed)
	if e != nil {
		return nil, e
	}
	r, e := s.checkDevice(ctx, request)
	if e != nil {
		return nil, e
	}
	p := &DevicePrompt{UserCode: userCode, Address: request.Address, DeviceHint: request.DeviceHint, CreatedAt: request.CreatedAt}
	p.Next, p.Correlation, p.ExpiresAt = NextConsent, request.Correlation(), request.ExpiresAt
	p.Client, p.Resource, p.Verified = r.client, r.resource, r.client.Kind != ClientDynamic
	p.ScopeAsked, p.Requested = r.scopeAsked, r.requested
	p.Offered = r.offered()
	for i := range p.Offered {
		o := &p.Offered[i] // not every scope of the resource is offered
		o.Ticked = o.Ticked && slices.ContainsFunc(r.resource.Scopes, func(scope Scope) bool { return scope.Name == o.Name && scope.Baseline })
	}
	s.observe(ctx, Step{Name: StepConsentShown, OK: true, ClientID: r.client.ID, RequestID: p.Correlation, UserID: who.UserID, Detail: "device"})
	return p, nil
}

// DecideDevice ends the request of a user code. Allow with nothing ticked gives ErrNoScope and leaves it open. Other
// errors are *Error.
func (s *Server) DecideDevice(ctx context.Context, typed string, who ResourceOwner, d Decision) error {
	if !who.SignedIn() {
		return LoginRequired().WithCheck("sign_in")
	}
	request, _, e := s.openDevice(ctx, typed)
	if e != nil {
		return e
	}
	r, e := s.checkDevice(ctx, request)
	if e != nil {
		return e
	}
	var approval *Approval
	outcome := OutcomeDenied
	if d.Allow {
		outcome = OutcomeAllowed
		approval = &Approval{UserID: who.UserID, ClientID: r.client.ID, Resource: r.resource.URI, Scopes: r.granted(d.Scopes),
			Terms: d.Terms, ExpiresAt: d.ExpiresAt}
		if len(approval.Scopes) == 0 {
			return ErrNoScope
		}
		if d.ExpiresAt != nil && !d.ExpiresAt.After(s.now()) {
			return InvalidRequest("The chosen end of the connection has passed.").WithCheck("expires_at")
		}
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	err := s.stores.Devices.DecideDevice(ctx, request.UserCodeHash, s.now(), approval, who.SignIn)
	switch {
	case errors.Is(err, ErrUsed), errors.Is(err, ErrNotFound):
		return errUserCode()
	case errors.Is(err, ErrEnded):
		return LoginRequired().WithCheck("sign_in")
	case err != nil:
		return storeFailure("decide device request", err)
	}
	s.observe(ctx, Step{Name: StepDecision, OK: true, ClientID: r.client.ID, RequestID: request.Correlation(), UserID: who.UserID,
		Detail: outcome + ", device"})
	return nil
}
