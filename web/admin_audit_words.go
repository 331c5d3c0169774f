package web

import (
	"context"
	"strings"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/templates/lang"
)

// auditNouns are what whole groups of actions are about.
var auditNouns = []struct{ value, label string }{
	{"person", lang.Text("All about people")},
	{"client", lang.Text("All about clients")},
	{"connection", lang.Text("All about connections")},
	{"policy", lang.Text("All about policies")},
	{"issuer", lang.Text("All about issuers")},
	{"key", lang.Text("All about keys")},
	{"identity", lang.Text("All about identities")},
	{"invitation", lang.Text("All about invitations")},
	{"member", lang.Text("All about members")},
	{"provider", lang.Text("All about providers")},
	{"sign_in", lang.Text("All about sign-ins")},
	{"factor", lang.Text("All about passwords, passkeys and codes")},
}

// auditWords are the actions in words. One without words is shown by its name.
var auditWords = map[string]string{
	audit.PersonAdded:               lang.Text("Person added"),
	audit.PersonDisabled:            lang.Text("Person disabled"),
	audit.PersonEnabled:             lang.Text("Person enabled"),
	audit.PersonPromoted:            lang.Text("Made an administrator"),
	audit.PersonDemoted:             lang.Text("Administrator no more"),
	audit.ResetLinkMade:             lang.Text("Reset link made"),
	audit.ClientAdded:               lang.Text("Client entered"),
	audit.ClientBlocked:             lang.Text("Client blocked"),
	audit.ClientUnblocked:           lang.Text("Client unblocked"),
	audit.ClientDeleted:             lang.Text("Client deleted"),
	audit.ConnectionEnded:           lang.Text("Connection ended"),
	audit.InstallationEnded:         lang.Text("Installation ended"),
	audit.RefreshReused:             lang.Text("Old refresh token used; installation ended"),
	audit.TokenRevoked:              lang.Text("Personal token revoked"),
	audit.KeyRotated:                lang.Text("Signing keys rotated"),
	audit.KeyDropped:                lang.Text("Signing key dropped"),
	audit.IdentityLinked:            lang.Text("Identity linked"),
	audit.IdentityUnlinked:          lang.Text("Identity unlinked"),
	audit.EmailChanged:              lang.Text("E-mail address changed"),
	audit.DeletionRequested:         lang.Text("Deletion of the account requested"),
	audit.DeletionWithdrawn:         lang.Text("Account kept after all"),
	audit.InvitationMade:            lang.Text("Invitation made"),
	audit.InvitationAccepted:        lang.Text("Invitation accepted"),
	audit.InvitationRevoked:         lang.Text("Invitation taken back"),
	audit.MemberChanged:             lang.Text("Member of a location changed"),
	audit.ProviderAdded:             lang.Text("Provider added"),
	audit.ProviderRemoved:           lang.Text("Provider removed"),
	account.ActionSignedIn:          lang.Text("Signed in"),
	account.ActionCodeRefused:       lang.Text("Wrong code after a right password"),
	account.ActionRecoveryCodeUsed:  lang.Text("Recovery code used"),
	account.ActionPasskeyWentBack:   lang.Text("The counter of a passkey went back; there may be a copy"),
	account.ActionPasskeyAdded:      lang.Text("Passkey added"),
	account.ActionPasskeyRemoved:    lang.Text("Passkey removed"),
	account.ActionCodesOn:           lang.Text("Authenticator app set up"),
	account.ActionCodesOff:          lang.Text("Authenticator app removed"),
	account.ActionRecoveryCodesMade: lang.Text("New recovery codes"),
	account.ActionPasswordChanged:   lang.Text("Password changed"),
	account.ActionPasswordReset:     lang.Text("Password set by a reset link"),
	account.ActionPasswordSet:       lang.Text("Password set"),
	account.ActionPasswordDropped:   lang.Text("Password removed"),
	account.ActionFactorsReset:      lang.Text("Second factors removed"),
	audit.ConnectionChanged:         lang.Text("Connection changed"),
	audit.ClientGranted:             lang.Text("Client given access for a person"),
	audit.ClientDevices:             lang.Text("Sign-in of devices switched for a client"),
	audit.DeviceConnected:           lang.Text("Device allowed by its code"),
	audit.IssuerAdded:               lang.Text("Issuer trusted"),
	audit.IssuerRemoved:             lang.Text("Issuer trusted no more"),
	audit.PersonLinked:              lang.Text("Person linked to an issuer by their address"),
	audit.ClientApproved:            lang.Text("Client approved"),
	audit.ClientRefused:             lang.Text("Client refused"),
	audit.ClientChanged:             lang.Text("Client changed what it says about itself"),
	audit.ClientSettingsChanged:     lang.Text("Settings of a client changed"),
	audit.PolicyChanged:             lang.Text("Policies changed"),
	audit.PolicyReset:               lang.Text("Policies reset"),
	audit.RegistrationTokenAdded:    lang.Text("Registration token made"),
	audit.RegistrationTokenRevoked:  lang.Text("Registration token revoked"),
}

func auditActionWords(ctx context.Context, action string) string {
	if text, ok := auditWords[action]; ok {
		return lang.T(ctx, text)
	}
	return action
}

// auditFacts are the names of facts in words.
var auditFacts = map[string]string{
	"changed": lang.Text("Changed"), "registration": lang.Text("Registration"), "settings": lang.Text("Settings"),
	"name": lang.Text("Name"), "email": lang.Text("E-mail"), "reason": lang.Text("Reason"), "key": lang.Text("Key"),
	"administrator": lang.Text("Administrator"), "installation": lang.Text("Installation"), "client": lang.Text("Client"),
	"connections": lang.Text("Connections"), "provider": lang.Text("Provider"), "issuer": lang.Text("Issuer"), "role": lang.Text("Role"),
	"location": lang.Text("Location"), "location_id": lang.Text("Location"), "invitation": lang.Text("Invitation"), "what": lang.Text("What"),
	"device": lang.Text("Device"),
}

func auditFactWords(ctx context.Context, name string) string {
	if text, ok := auditFacts[name]; ok {
		return lang.T(ctx, text)
	}
	return name
}

// auditActor says who acted.
func auditActor(ctx context.Context, e *audit.Entry) string {
	switch e.Actor {
	case audit.ActorPerson:
		return orElse(orElse(e.ActorName, e.ActorID), lang.T(ctx, "Somebody"))
	case audit.ActorCLI:
		return lang.T(ctx, "The command line")
	case audit.ActorClient:
		return lang.T(ctx, "The app {name}", "name", orElse(e.ActorName, e.ActorID))
	}
	return lang.T(ctx, "Gatehouse itself")
}

func compareText(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
