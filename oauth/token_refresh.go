package oauth

// The refresh token grant: OAuth 2.1 §4.3, §4.3.1 (rotation and reuse), §4.3.3; RFC 9700 §4.14.2.
//
// A public client's token is rotated at each use. An answer can get lost, and programs that share one stored token use
// it at the same time; so the direct predecessor gets the same successor again for as long as that was never used. The
// successor is kept encrypted under a key derived from the predecessor: the database alone cannot read it. A token whose
// successor was used is reuse: one of its holders is a thief, and the family ends. With a grace of zero every second use
// is reuse.
//
// A confidential client proves itself at each use, and so does a public one whose family is bound to a key (RFC 9449 §5);
// their tokens are not rotated, since each rotation is a chance to lose a session (§4.3.1 demands rotation or binding of
// public clients only). A family that began without a key is bound by the rotation of its last free token: whoever comes
// with a free token later, and without the key, holds it beside the key's holder, and that is reuse.

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// refresh answers a refresh: first everything that can be refused, then the access token, and the rotation last, so that
// no failure costs the client its token.
func (s *Server) refresh(ctx context.Context, client *Client, request tokenRequest) (*TokenResponse, *tokenGrant, error) {
	if request.refreshToken == "" {
		return nil, nil, InvalidRequest("The refresh_token is missing.").WithCheck("refresh_token")
	}
	lineage, e := s.lineage(ctx, client, request.refreshToken)
	if e != nil {
		return nil, nil, e
	}
	grant := &tokenGrant{
		userID: lineage.Connection.UserID, clientID: client.ID, connectionID: lineage.Connection.ID,
		familyID: lineage.Family.ID, ends: lineage.Connection.ExpiresAt, keyThumbprint: request.keyThumbprint,
		acr: lineage.Family.ACR, authTime: lineage.Family.AuthTime,
	}
	if grant.resource = s.resource(lineage.Connection.Resource); grant.resource == nil {
		// Not invalid_target: clients give up on that, but authorize anew on invalid_grant.
		return nil, grant, InvalidGrant("The resource of this token is not served any more.").WithCheck("resource_gone")
	}
	if e := s.checkAlive(lineage, grant.resource); e != nil {
		return nil, grant, e
	}
	if e := s.checkHolder(ctx, client, grant.resource, lineage, request.keyThumbprint); e != nil {
		return nil, grant, e
	}
	if e := narrow(grant, lineage, request.scope); e != nil {
		return nil, grant, e
	}
	grant.details = lineage.Connection.Details
	if e := s.narrowDetails(grant, request.details, lineage.Family.Details); e != nil {
		return nil, grant, e
	}
	if !s.matches(request.resources, grant.resource.URI) {
		return nil, grant, InvalidTarget("The resource is not the one that was authorized.").WithCheck("resource")
	}
	response, e := s.respond(ctx, grant, request.refreshToken)
	if e != nil {
		return nil, grant, e
	}
	if response.RefreshToken, e = s.advance(ctx, client, grant.resource, lineage, request); e != nil {
		return nil, grant, e
	}
	return response, grant, nil
}

// lineage finds the token and makes sure that it belongs to the client.
func (s *Server) lineage(ctx context.Context, client *Client, token string) (*Lineage, *Error) {
	lineage, err := s.stores.Tokens.Lineage(ctx, HashSecret(token))
	if errors.Is(err, ErrNotFound) {
		return nil, InvalidGrant("The refresh token is unknown or has expired.").WithCheck("refresh_token")
	}
	if err != nil {
		return nil, storeFailure("read refresh token", err)
	}
	if lineage.Connection.ClientID != client.ID {
		return nil, InvalidGrant("The refresh token was issued to another client.").WithCheck("refresh_client")
	}
	return lineage, nil
}

// checkAlive checks everything that may have ended.
func (s *Server) checkAlive(l *Lineage, resource *Resource) *Error {
	now := s.now()
	switch {
	case l.UserDisabled:
		return InvalidGrant("The account behind this token is not active.").WithCheck("account")
	case l.Connection.EndedAt != nil:
		return InvalidGrant("The connection behind this token has ended.").WithCheck("connection_ended")
	case l.Connection.ExpiresAt != nil && !l.Connection.ExpiresAt.After(now):
		return InvalidGrant("The connection behind this token has expired.").WithCheck("connection_expired")
	case l.Family.EndedAt != nil:
		return InvalidGrant("The session behind this token has ended.").WithCheck("family_ended")
	case resource.RefreshTokenLimit > 0 && !l.Family.CreatedAt.Add(resource.RefreshTokenLimit).After(now):
		return InvalidGrant("The session behind this token has reached its age limit.").WithCheck("family_limit")
	case !refreshExpiry(&l.Token, resource).After(now):
		return InvalidGrant("The refresh token is unknown or has expired.").WithCheck("refresh_expired")
	}
	return nil
}

// refreshExpiry is when the token stops to be accepted. Its use renewed the life, also where only the server knows of
// that use because the answer got lost.
func refreshExpiry(t *RefreshToken, resource *Resource) time.Time {
	if t.RotatedAt == nil {
		return t.ExpiresAt
	}
	if renewed := t.RotatedAt.Add(resource.refreshTokenLife()); renewed.After(t.ExpiresAt) {
		return renewed
	}
	return t.ExpiresAt
}

// isReuse reports whether a rotated token comes from somebody who is not its last holder.
func isReuse(l *Lineage, resource *Resource) bool {
	return l.Token.SuccessorHash != nil && (l.SuccessorUsed || resource.refreshGrace() == 0)
}

// checkHolder refuses whoever is not the one to use the token. Who comes without the key of a bound token does not end the
// family; one of its free tokens does, since that was used and bound before.
func (s *Server) checkHolder(ctx context.Context, client *Client, resource *Resource, l *Lineage, thumbprint string) *Error {
	e := checkKey(l.Family.KeyThumbprint, thumbprint)
	if e != nil && l.Token.SuccessorHash == nil {
		return e
	}
	if e != nil || isReuse(l, resource) {
		return s.reused(ctx, client, l)
	}
	return nil
}

// reused ends the family (§4.3.1), unless an administrator has said for this client that its installations live on: some
// programs share one stored token, and each of them uses what it has in memory.
func (s *Server) reused(ctx context.Context, client *Client, l *Lineage) *Error {
	if client.Settings.KeepOnStale {
		s.observe(ctx, Step{
			Name: StepStaleRefused, ClientID: l.Connection.ClientID, UserID: l.Connection.UserID,
			ConnectionID: l.Connection.ID, Check: "refresh_reuse", Reason: "A refresh token was used again after its successor. It was refused, and nothing ended.",
			Detail: "family " + l.Family.ID,
		})
		return InvalidGrant("The refresh token was used before. Use the one that was issued last.").WithCheck("refresh_reuse")
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	ended, err := s.stores.Tokens.EndFamily(ctx, l.Family.ID, EndedByReuse, s.now())
	if err != nil {
		return storeFailure("end family after reuse", err)
	}
	if ended {
		s.observe(ctx, Step{
			Name: StepReuseDetected, ClientID: l.Connection.ClientID, UserID: l.Connection.UserID,
			ConnectionID: l.Connection.ID, Check: "refresh_reuse", Reason: "A refresh token was used again after its successor.",
			Detail: "family " + l.Family.ID,
		})
	}
	return InvalidGrant("The refresh token was used before. The session has ended.").WithCheck("refresh_reuse")
}

// narrow sets the scopes of the new access token. The connection keeps all of its own (§4.3.1).
//
// Clients repeat the scope they were granted with each refresh, and do not know that the person has changed the
// connection since. So what was granted once is never an error, only no longer given; and a client that repeats all of
// it asks for no less than it has, and gets what the connection has now.
func narrow(grant *tokenGrant, l *Lineage, scope string) *Error {
	grant.scopes = l.Connection.Scopes
	asked, err := parseScope(scope)
	if err != nil {
		return storeFailure("parse scope", err)
	}
	asked = slices.DeleteFunc(asked, func(s string) bool { return s == ScopeOfflineAccess })
	if len(asked) == 0 {
		return nil
	}
	allowed, granted := grant.resource.expand(l.Connection.Scopes), grant.resource.expand(l.Family.Scopes)
	if !isSubset(asked, append(slices.Clone(allowed), granted...)) {
		return InvalidScope("The scope exceeds what was authorized.").WithCheck("scope")
	}
	asked = grant.resource.expand(asked)
	if isSubset(granted, asked) || isSubset(allowed, asked) {
		return nil
	}
	asked = slices.DeleteFunc(asked, func(s string) bool { return !slices.Contains(allowed, s) })
	if len(asked) == 0 {
		return InvalidScope("None of these scopes is authorized any more.").WithCheck("scope")
	}
	grant.scopes, grant.narrowed = asked, true
	return nil
}

// advance moves the chain on and returns the refresh token that the client holds from now on.
func (s *Server) advance(ctx context.Context, client *Client, resource *Resource, l *Lineage, request tokenRequest) (string, *Error) {
	presented := request.refreshToken
	ctx, cancel := finish(ctx)
	defer cancel()
	switch {
	case l.Token.SuccessorHash != nil:
		return s.successorAgain(ctx, resource, l, presented)
	case client.Public() && l.Family.KeyThumbprint == "":
		return s.rotate(ctx, client, resource, l, request)
	}
	now := s.now()
	err := s.stores.Tokens.RenewRefreshToken(ctx, l.Token.Hash, now, now.Add(resource.refreshTokenLife()))
	if errors.Is(err, ErrNotFound) {
		return s.overtaken(ctx, client, resource, request)
	}
	if err != nil {
		return "", storeFailure("renew refresh token", err)
	}
	return presented, nil
}

// rotate replaces the token. A key that the request proved binds the family from then on (RFC 9449 §5).
func (s *Server) rotate(ctx context.Context, client *Client, resource *Resource, l *Lineage, request tokenRequest) (string, *Error) {
	secret, hash, err := newSecret(s.cfg.Rand, prefixRefreshToken)
	if err != nil {
		return "", ServerError(err)
	}
	sealed, err := sealSuccessor(s.cfg.Rand, request.refreshToken, secret)
	if err != nil {
		return "", ServerError(err)
	}
	now := s.now()
	successor := &RefreshToken{
		Hash: hash, FamilyID: l.Family.ID, ParentHash: l.Token.Hash, CreatedAt: now, ExpiresAt: now.Add(resource.refreshTokenLife()),
	}
	if request.keyThumbprint == "" {
		err = s.stores.Tokens.RotateRefreshToken(ctx, l.Token.Hash, successor, sealed, now)
	} else {
		err = s.stores.Tokens.RotateAndBind(ctx, l.Token.Hash, successor, sealed, now, request.keyThumbprint)
	}
	switch {
	case err == nil:
		return secret, nil
	case !errors.Is(err, ErrConflict):
		return "", storeFailure("rotate refresh token", err)
	}
	return s.overtaken(ctx, client, resource, request)
}

// overtaken answers after another request rotated the same token first: with its result, as if this one had come later.
func (s *Server) overtaken(ctx context.Context, client *Client, resource *Resource, request tokenRequest) (string, *Error) {
	l, e := s.lineage(ctx, client, request.refreshToken)
	if e != nil {
		return "", e
	}
	if e := s.checkAlive(l, resource); e != nil {
		return "", e
	}
	if l.Token.SuccessorHash == nil {
		return "", storeFailure("rotate refresh token", errors.New("conflict, but no successor"))
	}
	if e := s.checkHolder(ctx, client, resource, l, request.keyThumbprint); e != nil {
		return "", e
	}
	return s.successorAgain(ctx, resource, l, request.refreshToken)
}

// successorAgain gives the predecessor's holder the same successor. After the grace its life starts anew, as at any use.
func (s *Server) successorAgain(ctx context.Context, resource *Resource, l *Lineage, presented string) (string, *Error) {
	secret, err := openSuccessor(presented, l.Token.SuccessorSealed)
	if err != nil {
		return "", ServerError(err)
	}
	if !bytes.Equal(HashSecret(secret), l.Token.SuccessorHash) {
		return "", ServerError(errors.New("sealed successor is not the stored one"))
	}
	now := s.now()
	if l.Token.RotatedAt != nil && now.Sub(*l.Token.RotatedAt) > resource.refreshGrace() {
		if err := s.stores.Tokens.RenewRefreshToken(ctx, l.Token.SuccessorHash, now, now.Add(resource.refreshTokenLife())); err != nil {
			return "", storeFailure("renew successor", err)
		}
	}
	return secret, nil
}

// The infos separate the keys that are derived from secrets by their purpose.
const (
	successorInfo = "oauth refresh token successor v1"
	answerInfo    = "oauth authorization answer v1"
)

func successorCipher(info, presented string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(presented), nil, info, 32)
	if err != nil {
		return nil, fmt.Errorf("derive successor key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make successor cipher: %w", err)
	}
	return cipher.NewGCM(block)
}

// sealSuccessor encrypts the successor for the holder of the presented token.
func sealSuccessor(rand io.Reader, presented, successor string) ([]byte, error) {
	return sealUnder(rand, successorInfo, presented, successor)
}

// sealUnder encrypts a value under a key derived from a secret, so that only the secret's holder can read it.
func sealUnder(rand io.Reader, info, presented, successor string) ([]byte, error) {
	aead, err := successorCipher(info, presented)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(successor)+aead.Overhead())
	if _, err := io.ReadFull(rand, nonce); err != nil {
		return nil, fmt.Errorf("read random bytes: %w", err)
	}
	return aead.Seal(nonce, nonce, []byte(successor), HashSecret(presented)), nil
}

func openSuccessor(presented string, sealed []byte) (string, error) {
	return openSealed(successorInfo, presented, sealed)
}

func openSealed(info, presented string, sealed []byte) (string, error) {
	aead, err := successorCipher(info, presented)
	if err != nil {
		return "", err
	}
	if len(sealed) < aead.NonceSize() {
		return "", errors.New("open successor: too short")
	}
	nonce, box := sealed[:aead.NonceSize()], sealed[aead.NonceSize():]
	plain, err := aead.Open(nil, nonce, box, HashSecret(presented))
	if err != nil {
		return "", fmt.Errorf("open successor: %w", err)
	}
	return string(plain), nil
}
