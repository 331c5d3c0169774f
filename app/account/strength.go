package account

import "slices"

// How a person proved who they are: the words of RFC 8176 that a session's AMR holds.
const (
	MethodPassword = "pwd"
	MethodOTP      = "otp"
	// MethodHardwareKey and MethodSoftwareKey are proof by a passkey, MethodUser that the person was verified with it.
	MethodHardwareKey = "hwk"
	MethodSoftwareKey = "swk"
	MethodUser        = "user"
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
