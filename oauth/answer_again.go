package oauth

// The answer to a second click on Allow: OAuth 2.1 §4.1.2 (the code is for one use), §7.5. A browser that submits a form twice drops the first answer, and with it the
// code; so for as long as the code can be redeemed and was not, whoever decided gets the same answer again. It is kept
// encrypted under a key derived from the id of the request, of which the store has the hash alone.

import (
	"context"
	"crypto/subtle"
	"net/url"
)

// AnswerAgain gives the answer of a request that was allowed, to the sign-in that allowed it. ErrUsed says that there is
// none to give any more: the friendly state that ResumeAuthorization describes is left. Other errors are *Error.
func (s *Server) AnswerAgain(ctx context.Context, id string, who ResourceOwner) (*AuthorizationResponse, error) {
	request, err := s.loadRequest(ctx, id)
	if err != nil {
		return nil, err
	}
	if request.Outcome != OutcomeAllowed || request.AnswerSealed == nil || who.SignIn == "" || request.DecidedAt == nil ||
		subtle.ConstantTimeCompare([]byte(request.DecidedBy), []byte(who.SignIn)) != 1 ||
		!request.DecidedAt.Add(codeLife).After(s.now()) {
		return nil, ErrUsed
	}
	location, err := openSealed(answerInfo, id, request.AnswerSealed)
	if err != nil {
		return nil, ServerError(err)
	}
	target, err := url.Parse(location)
	if err != nil {
		return nil, ServerError(err)
	}
	code, err := s.stores.Codes.Code(ctx, HashSecret(target.Query().Get("code")))
	if err != nil || code.UsedAt != nil || code.Approval.UserID != who.UserID {
		return nil, ErrUsed // a redeemed code must not travel again: its second use would end what the first began
	}
	return &AuthorizationResponse{RedirectURI: location, Host: redirectHost(code.RedirectURI), ClientID: request.ClientID}, nil
}
