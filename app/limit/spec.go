package limit

import "time"

// Spec is one kind of window: at most Budget calls per key within Window, counted from the first counted call.
type Spec struct {
	Name   string
	Budget int
	Window time.Duration
}

// The windows there are.
var (
	// Reads and Writes are per personal token (over every door together) or per connection.
	Reads  = Spec{Name: "read", Budget: 120, Window: time.Minute}
	Writes = Spec{Name: "write", Budget: 30, Window: time.Minute}
	// Browser is per person signed in with a session.
	Browser = Spec{Name: "browser", Budget: 600, Window: time.Minute}
	// SignInsOverall is one window for the whole installation: a ceiling on guessing from many networks at once.
	SignInsOverall = Spec{Name: "sign_in", Budget: 600, Window: time.Minute}
	// SignInTries is per network and counts every try, also those that are refused: looking a refusal up costs work too.
	SignInTries = Spec{Name: "sign_in_try", Budget: 120, Window: time.Minute}
	// LinkTries is per network: tries at one-time links.
	LinkTries = Spec{Name: "link", Budget: 60, Window: time.Minute}
	// Letters is per address: letters with links that somebody asked for.
	Letters = Spec{Name: "letter", Budget: 5, Window: time.Hour}
	// OAuthTokens, OAuthRevocations, OAuthPushes, OAuthIntrospections, OAuthUserInfo and OAuthPages are per client address. Hosted clients share addresses, hence the room.
	OAuthTokens         = Spec{Name: "oauth_token", Budget: 1200, Window: time.Minute}
	OAuthRevocations    = Spec{Name: "oauth_revoke", Budget: 600, Window: time.Minute}
	OAuthPushes         = Spec{Name: "oauth_par", Budget: 600, Window: time.Minute}
	OAuthIntrospections = Spec{Name: "oauth_introspect", Budget: 1200, Window: time.Minute}
	OAuthUserInfo       = Spec{Name: "oauth_userinfo", Budget: 1200, Window: time.Minute}
	// DeviceCodes is per session, DeviceCodesOfOne per network: tries at the short codes that devices show.
	DeviceCodes      = Spec{Name: "device_code", Budget: 10, Window: time.Minute}
	DeviceCodesOfOne = Spec{Name: "device_code_one", Budget: 30, Window: time.Minute}
	// OAuthDevices is per client address: each call stores a row.
	OAuthDevices = Spec{Name: "oauth_device", Budget: 60, Window: time.Minute}
	OAuthPages   = Spec{Name: "oauth_page", Budget: 600, Window: time.Minute}
	// OAuthClient is per client, over all endpoints where it proves who it is; for a client without a secret per client and
	// network. Hosted clients share one id among all their people, hence the room; an administrator can set another budget.
	OAuthClient = Spec{Name: "oauth_client", Budget: 6000, Window: time.Minute}
	// OAuthManagement is per client address: what clients do with their registrations.
	OAuthManagement = Spec{Name: "oauth_manage", Budget: 300, Window: time.Minute}
	// OAuthClientFailures is per client and address: wrong client secrets.
	OAuthClientFailures = Spec{Name: "oauth_client_failure", Budget: 30, Window: time.Minute}
	// Registrations is one window for the whole installation, not per address: hosted clients share addresses.
	Registrations = Spec{Name: "oauth_register", Budget: 600, Window: time.Minute}
	// RegistrationsOfOne is per client address, with room that hosted clients do not use up: one address must not take the
	// whole of Registrations.
	RegistrationsOfOne = Spec{Name: "oauth_register_one", Budget: 200, Window: time.Minute}
)
