package oauth

// The device code at the token endpoint: RFC 8628 §3.4, §3.5.

import (
	"context"
	"errors"
	"slices"
)

// pollDevice answers a device that asks for its tokens.
func (s *Server) pollDevice(ctx context.Context, client *Client, request tokenRequest) (*TokenResponse, *tokenGrant, error) {
	if request.deviceCode == "" {
		return nil, nil, InvalidRequest("The device_code is missing.").WithCheck("device_code")
	}
	device, err := s.stores.Devices.DeviceRequest(ctx, HashSecret(request.deviceCode))
	if errors.Is(err, ErrNotFound) {
		return nil, nil, InvalidGrant("The device code is unknown.").WithCheck("device_code")
	}
	if err != nil {
		return nil, nil, storeFailure("read device request", err)
	}
	if device.ClientID != client.ID {
		return nil, nil, InvalidGrant("The device code was issued to another client.").WithCheck("code_client")
	}
	grant := &tokenGrant{requestID: device.Correlation(), userID: device.Approval.UserID, clientID: client.ID, keyThumbprint: request.keyThumbprint}
	if !s.matches(request.resources, device.Resource) {
		return nil, grant, InvalidTarget("The resource is not the one that was asked for.").WithCheck("resource")
	}
	if e := s.checkDecided(ctx, device); e != nil {
		return nil, grant, e
	}
	if grant.resource = s.resource(device.Resource); grant.resource == nil {
		return nil, grant, InvalidGrant("The resource of this code is not served any more.").WithCheck("resource_gone")
	}
	grant.details = device.Approval.Details
	if e := s.narrowDetails(grant, request.details, nil); e != nil {
		return nil, grant, e
	}
	response, e := s.redeemDevice(ctx, client, grant, device)
	if e != nil {
		return nil, grant, e
	}
	return response, grant, nil
}

// checkDecided answers a device whose request does not stand allowed. A code that was redeemed stays used; one that has
// expired says so, whatever was decided about it.
func (s *Server) checkDecided(ctx context.Context, device *DeviceRequest) *Error {
	switch now := s.now(); {
	case device.UsedAt != nil:
		return InvalidGrant("The device code was used before.").WithCheck("code_used")
	case !device.ExpiresAt.After(now):
		return newError(400, "expired_token", "The device code has expired. Start again on the device.").WithCheck("code_expired")
	case device.Outcome == OutcomeDenied:
		e := AccessDenied("The person denied the request.").WithCheck("consent")
		e.Status = 400 // RFC 8628 §3.5: as RFC 6749 §5.2
		return e
	case device.Outcome == OutcomeAllowed:
		if ends := device.Approval.ExpiresAt; ends != nil && !ends.After(now) {
			return InvalidGrant("The approval behind this code has ended.").WithCheck("ended")
		}
		return nil
	}
	early, err := s.stores.Devices.PollDevice(ctx, device.Hash, s.now(), deviceInterval, deviceSlack)
	if err != nil {
		return storeFailure("note poll of device", err)
	}
	if early {
		return newError(400, "slow_down", "The device asks too often. Wait five seconds longer between requests from now on.").WithCheck(checkPending)
	}
	return newError(400, "authorization_pending", "The person has not decided yet.").WithCheck(checkPending)
}

// checkPending marks answers that say nothing but wait: they are no step of an attempt.
const checkPending = "pending"

func (s *Server) redeemDevice(ctx context.Context, client *Client, grant *tokenGrant, device *DeviceRequest) (*TokenResponse, *Error) {
	// From here on the request is what a code is: an approval that is used up once.
	code := &AuthorizationCode{Hash: device.Hash, Approval: device.Approval, ACR: device.ACR, AMR: device.AMR, AuthTime: device.AuthTime}
	if e := s.canSign(ctx, client, grant, code); e != nil {
		return nil, e
	}
	redemption, refreshToken, err := s.newRedemption(ctx, grant.resource, code)
	if err != nil {
		return nil, ServerError(err)
	}
	if redemption.DeviceHint == "" {
		redemption.DeviceHint = device.DeviceHint
	}
	if client.Public() { // RFC 9449 §5
		redemption.KeyThumbprint = grant.keyThumbprint
	}
	ctx, cancel := finish(ctx)
	defer cancel()
	connection, err := s.stores.Devices.RedeemDevice(ctx, redemption)
	switch {
	case errors.Is(err, ErrUsed), errors.Is(err, ErrNotFound):
		return nil, InvalidGrant("The device code was used before.").WithCheck("code_used")
	case errors.Is(err, ErrEnded):
		return nil, InvalidGrant("The approval behind this code has ended.").WithCheck("ended")
	case err != nil:
		return nil, storeFailure("redeem device code", err)
	}
	grant.connectionID, grant.familyID = connection.ID, redemption.FamilyID
	grant.scopes, grant.ends = connection.Scopes, connection.ExpiresAt
	grant.acr, grant.authTime = code.ACR, code.AuthTime
	response, e := s.respond(ctx, grant, refreshToken)
	if e == nil && s.cfg.OpenID && slices.Contains(connection.Scopes, ScopeOpenID) {
		response.IDToken, e = s.mintIDToken(ctx, client, code, response.AccessToken)
	}
	if e != nil {
		return nil, e
	}
	return response, nil
}
