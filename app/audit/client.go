package audit

// Actions about clients and the rules for them.
const (
	ClientApproved           = "client.approved"
	ClientRefused            = "client.refused"
	ClientChanged            = "client.changed"
	ClientSettingsChanged    = "client.settings_changed"
	PolicyChanged            = "policy.changed"
	PolicyReset              = "policy.reset"
	RegistrationTokenAdded   = "registration_token.added"
	RegistrationTokenRevoked = "registration_token.revoked"
)
