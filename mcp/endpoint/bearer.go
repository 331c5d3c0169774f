package endpoint

import (
	"errors"
	"net/http"
	"strings"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/app/toolgrant"
	"gatehouse/oauth"
)

// authenticate turns the Authorization field into a principal: RFC 6750 §2.1, OAuth 2.1 §5.1, RFC 9449 §7.1. A token in the query or
// the body counts as none (BR-5).
func (e *Endpoint) authenticate(r *http.Request) (*home.Principal, error) {
	values := r.Header.Values("Authorization")
	if len(values) > 1 {
		return nil, oauth.InvalidRequest("Send the Authorization field once.")
	}
	if len(values) == 0 || strings.TrimSpace(values[0]) == "" {
		return nil, errNoToken
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	bound := e.cfg.Prove != nil && strings.EqualFold(scheme, "DPoP")
	switch {
	case !bound && !strings.EqualFold(scheme, "Bearer"):
		return nil, errNoToken
	case token == "" || strings.ContainsAny(token, " ,"):
		return nil, oauth.InvalidRequest("The Authorization field must hold one token.")
	case bound:
		return e.bound(r, token)
	case strings.HasPrefix(token, "gth_"):
		return e.personal(r, token)
	default:
		return e.connection(r, token)
	}
}

func (e *Endpoint) personal(r *http.Request, token string) (*home.Principal, error) {
	if !e.cfg.Profile.PersonalTokens {
		return nil, oauth.InvalidToken("Personal tokens are not accepted here.")
	}
	p, err := e.cfg.Tokens.PrincipalByToken(r.Context(), token)
	if errors.Is(err, account.ErrUnauthorized) {
		return nil, oauth.InvalidToken("This personal token is unknown, expired or revoked.").WithCause(err)
	}
	return p, err
}

// connection verifies the signature and then reads the row; both must agree on every request. The row decides: scopes
// of the connection hold at once for all its tokens (CN-74), unless this token was narrowed at a refresh.
func (e *Endpoint) connection(r *http.Request, token string) (*home.Principal, error) {
	if e.cfg.Verify == nil {
		return nil, oauth.InvalidToken("Only personal tokens are accepted here.")
	}
	if e.isStored(token) {
		return e.stored(r, token, nil)
	}
	at, err := e.cfg.Verify.VerifyAccessToken(r.Context(), token, e.cfg.Profile.Resource)
	if err != nil {
		return nil, err
	}
	return e.principal(r, at)
}

// principal reads the row behind a verified token.
func (e *Endpoint) principal(r *http.Request, at *oauth.AccessToken) (*home.Principal, error) {
	p, err := e.cfg.Connections.PrincipalByConnection(r.Context(), at.ConnectionID, at.FamilyID, at.ID, e.cfg.Now())
	if errors.Is(err, oauth.ErrNotFound) || errors.Is(err, oauth.ErrEnded) {
		return nil, oauth.InvalidToken("This connection has ended.").WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	// The subject of a client that acts by its own credentials is itself (RFC 9068 §5).
	if p.UserID != at.Subject && oauth.ClientSubject(p.ClientID) != at.Subject || p.ClientID != at.ClientID {
		return nil, oauth.InvalidToken("This token does not belong to the connection it names.")
	}
	return withToken(p, at)
}

// withToken adds what the token itself says.
func withToken(p *home.Principal, at *oauth.AccessToken) (*home.Principal, error) {
	if p.ACR, p.AuthTime = at.ACR, at.AuthTime; at.Narrowed {
		p.Scopes = intersect(p.Scopes, at.Scopes)
	}
	if !at.DetailsNarrowed {
		return p, nil
	}
	narrowed, err := toolgrant.FromDetails(at.Details) // RFC 9396 §6: this token may call less than the connection
	if err != nil {
		return nil, oauth.InvalidToken("The authorization details of this token cannot be read.").WithCause(err)
	}
	p.Tools = toolgrant.Meet(p.Tools, narrowed)
	return p, nil
}

func (e *Endpoint) isStored(token string) bool {
	return e.cfg.Stored != nil && strings.HasPrefix(token, oauth.PrefixAccessToken)
}

// stored finds token, connection and person in one read. proof is nil for a bearer token.
func (e *Endpoint) stored(r *http.Request, token string, proof *oauth.ProofRequest) (*home.Principal, error) {
	p, at, err := e.cfg.Stored.PrincipalByAccessToken(r.Context(), oauth.HashSecret(token), e.cfg.Now())
	if errors.Is(err, oauth.ErrNotFound) || errors.Is(err, oauth.ErrEnded) {
		return nil, oauth.InvalidToken("The token is unknown, or its connection has ended.").WithCause(err)
	}
	if err == nil {
		err = e.cfg.CheckStored.CheckStored(r.Context(), at, token, e.cfg.Profile.Resource, proof)
	}
	if err != nil {
		return nil, err
	}
	return withToken(p, at)
}

func intersect(a, b []string) []string {
	out := make([]string, 0, len(a))
	for _, s := range a {
		for _, t := range b {
			if s == t {
				out = append(out, s)
			}
		}
	}
	return out
}

// refuseBearer writes what the bearer step came to: 401 with a challenge, 400 for a malformed field, 503 for a fault of
// ours, which never looks like a bad token, since clients throw tokens away for that.
func (e *Endpoint) refuseBearer(w http.ResponseWriter, r *http.Request, err error) {
	var protocol *oauth.Error
	switch {
	case errors.Is(err, errNoToken):
		e.observe(r, Event{Outcome: "challenged"})
		e.setChallenge(w, r, "", "")
		refuse(w, http.StatusUnauthorized, "Sign in first: this endpoint needs an access token.")
	case errors.As(err, &protocol) && (protocol.Status == http.StatusUnauthorized || protocol.Status == http.StatusBadRequest):
		e.observe(r, Event{Outcome: "refused", Reason: protocol.Description})
		e.setChallenge(w, r, protocol.Code, protocol.Description)
		refuse(w, protocol.Status, protocol.Description)
	default:
		e.cfg.Log.Error("bearer step", "cause", err)
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, "The server cannot answer right now. Try again shortly.")
	}
}
