package account

import (
	"context"
	"slices"
)

// How a person proved who they are: the words of RFC 8176 that a session's AMR holds.
const (
	MethodPassword = "pwd"
	MethodOTP      = "otp"
	// MethodHardwareKey and MethodSoftwareKey are proof by a passkey, MethodUser that the person was verified with it.
	MethodHardwareKey = "hwk"
	MethodSoftwareKey = "swk"
	MethodUser        = "user"
	// MethodFederated is a sign-in at another server. The registry has no word for it; how the server did it is its own matter.
	MethodFederated = "fed"
	// MethodMultiple stands beside the others when there were two factors.
	MethodMultiple = "mfa"
)

// How strongly a person proved who they are, weakest first: the acr values of tokens.
const (
	// StrengthSingle is one factor: a password.
	StrengthSingle = "urn:gatehouse:acr:single-factor"
	// StrengthMulti is two factors: a password with a second step, or a passkey that verified the person.
	StrengthMulti = "urn:gatehouse:acr:multi-factor"
)

// Strengths lists the acr values, weakest first.
func Strengths() []string { return []string{StrengthSingle, StrengthMulti} }

// StrengthOf says how strong a proof of the given manner is.
func StrengthOf(amr []string) string {
	has := func(method string) bool { return slices.Contains(amr, method) }
	passkey := has(MethodHardwareKey) || has(MethodSoftwareKey)
	if has(MethodMultiple) || passkey && has(MethodUser) || has(MethodPassword) && (has(MethodOTP) || passkey) {
		return StrengthMulti
	}
	return StrengthSingle
}

// StrongestSignIn is the strongest sign-in that a person is able to.
func (s *Service) StrongestSignIn(ctx context.Context, userID string) (string, error) {
	f, err := s.Factors(ctx, userID)
	if err != nil {
		return "", wrap("read factors", err)
	}
	if f.SecondFactor() || len(f.Passkeys) > 0 {
		return StrengthMulti, nil
	}
	return StrengthSingle, nil
}
