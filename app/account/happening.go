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
	ActionSignedIn          = "account.signed_in"
	ActionCodeRefused       = "account.code_refused"
	ActionRecoveryCodeUsed  = "account.recovery_code_used"
	ActionPasskeyAdded      = "account.passkey_added"
	ActionPasskeyRemoved    = "account.passkey_removed"
	ActionPasskeyWentBack   = "account.passkey_counter_back"
	ActionCodesOn           = "account.authenticator_added"
	ActionCodesOff          = "account.authenticator_removed"
	ActionRecoveryCodesMade = "account.recovery_codes_replaced"
	ActionPasswordDropped   = "account.password_removed"
	ActionPasswordSet       = "account.password_set"
	ActionFactorsReset      = "account.factors_reset"
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
