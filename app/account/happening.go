package account

import (
	"context"
	"slices"
)

// Happening is something about an account's security that is worth a line in the record.
type Happening struct {
	// Action is one of the constants below.
	Action string
	// UserID is whose account it is.
	UserID string
	// From is where it came from, as far as known.
	From Device
	// Detail is a short fact without secrets.
	Detail string
}

// Actions of happenings.
const (
	ActionSignedIn          = "sign_in.done"
	ActionCodeRefused       = "sign_in.code_refused"
	ActionRecoveryCodeUsed  = "sign_in.recovery_code_used"
	ActionPasskeyWentBack   = "sign_in.passkey_counter_back"
	ActionPasskeyAdded      = "factor.passkey_added"
	ActionPasskeyRemoved    = "factor.passkey_removed"
	ActionCodesOn           = "factor.authenticator_added"
	ActionCodesOff          = "factor.authenticator_removed"
	ActionRecoveryCodesMade = "factor.recovery_codes_replaced"
	ActionPasswordChanged   = "factor.password_changed"
	ActionPasswordReset     = "factor.password_reset"
	ActionPasswordSet       = "factor.password_set"
	ActionPasswordDropped   = "factor.password_removed"
	ActionFactorsReset      = "factor.all_reset"
)

// note records something. Recording never stops what happened.
func (s *Service) note(ctx context.Context, h Happening) {
	if s.record != nil {
		s.record(ctx, h)
	}
}

// methodOf names what a sign-in was made with.
func methodOf(amr []string) string {
	switch {
	case slices.Contains(amr, MethodHardwareKey), slices.Contains(amr, MethodSoftwareKey):
		return "passkey"
	case slices.Contains(amr, MethodOTP):
		return "password and code"
	}
	return "password"
}
