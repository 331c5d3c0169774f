package oauth

// Token revocation: RFC 7009 §2.1, §2.2.
//
// A refresh token stands for the whole approval: when its client gives it back, the connection ends with everything it
// issued. An access token ends alone. The type hint is not needed, since the kinds are told apart by their shape; a wrong
// one is ignored (§2.1).

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// Revoke answers a revocation request. Nil means status 200 with an empty body, also for tokens that are unknown, have
// expired or belong to another client, where nothing is revoked. The error is an *Error.
func (s *Server) Revoke(ctx context.Context, form url.Values, auth ClientAuthentication) error {
	if e := checkSingle(form); e != nil {
		return e
	}
	client, err := s.AuthenticateClient(ctx, auth)
	if err != nil {
		return storeFailure("authenticate client", err)
	}
	token := form.Get("token")
	if token == "" {
		return InvalidRequest("The token is missing.").WithCheck("token")
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	var e *Error
	if strings.HasPrefix(token, prefixRefreshToken) {
		e = s.revokeRefreshToken(ctx, client, token)
	} else {
		e = s.revokeAccessToken(ctx, client, token)
	}
	if e != nil {
		return e
	}
	return nil
}

func (s *Server) revokeRefreshToken(ctx context.Context, client *Client, token string) *Error {
	lineage, err := s.stores.Tokens.Lineage(ctx, HashSecret(token))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return storeFailure("read refresh token", err)
	}
	if lineage.Connection.ClientID != client.ID {
		s.observeForeign(ctx, client)
		return nil
	}
	ended, err := s.stores.Tokens.EndConnection(ctx, lineage.Connection.ID, EndedByClient, s.now())
	if err != nil {
		return storeFailure("end connection", err)
	}
	if ended {
		s.observe(ctx, Step{
			Name: StepTokenRevoked, OK: true, ClientID: client.ID, UserID: lineage.Connection.UserID,
			ConnectionID: lineage.Connection.ID, Detail: "refresh token: the connection has ended",
		})
	}
	return nil
}

func (s *Server) revokeAccessToken(ctx context.Context, client *Client, token string) *Error {
	verified, e := s.verifySigned(ctx, token)
	if e != nil {
		if e.Code == "invalid_token" {
			return nil // unknown, expired or of another kind: there is nothing to revoke
		}
		return e
	}
	if verified.ClientID != client.ID {
		s.observeForeign(ctx, client)
		return nil
	}
	if err := s.stores.Tokens.RevokeAccessToken(ctx, verified.ID, verified.ExpiresAt); err != nil {
		return storeFailure("revoke access token", err)
	}
	s.observe(ctx, Step{
		Name: StepTokenRevoked, OK: true, ClientID: client.ID, UserID: verified.Subject,
		ConnectionID: verified.ConnectionID, Detail: "access token",
	})
	return nil
}

func (s *Server) observeForeign(ctx context.Context, client *Client) {
	s.observe(ctx, Step{
		Name: StepTokenRevoked, ClientID: client.ID, Check: "revoke_client", Reason: "The token belongs to another client.",
	})
}
