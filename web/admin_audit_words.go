package web

import (
	"context"
	"strings"

	"gatehouse/app/audit"
	"gatehouse/templates/lang"
)

// auditNouns are what whole groups of actions are about.
var auditNouns = []struct{ value, label string }{
	{"person", lang.Text("All about people")},
	{"client", lang.Text("All about clients")},
	{"connection", lang.Text("All about connections")},
	{"policy", lang.Text("All about policies")},
	{"key", lang.Text("All about keys")},
}

// auditWords are the actions in words. One without words is shown by its name.
var auditWords = map[string]string{
	audit.PersonAdded:     lang.Text("Person added"),
	audit.PersonDisabled:  lang.Text("Person disabled"),
	audit.PersonEnabled:   lang.Text("Person enabled"),
	audit.PersonPromoted:  lang.Text("Made an administrator"),
	audit.PersonDemoted:   lang.Text("Administrator no more"),
	audit.ResetLinkMade:   lang.Text("Reset link made"),
	audit.ClientAdded:     lang.Text("Client entered"),
	audit.ClientBlocked:   lang.Text("Client blocked"),
	audit.ClientUnblocked: lang.Text("Client unblocked"),
	audit.ClientDeleted:   lang.Text("Client deleted"),

	audit.ClientApproved:           lang.Text("Client approved"),
	audit.ClientRefused:            lang.Text("Client refused"),
	audit.ClientChanged:            lang.Text("Client changed what it says about itself"),
	audit.ClientSettingsChanged:    lang.Text("Settings of a client changed"),
	audit.PolicyChanged:            lang.Text("Policies changed"),
	audit.PolicyReset:              lang.Text("Policies reset"),
	audit.RegistrationTokenAdded:   lang.Text("Registration token made"),
	audit.RegistrationTokenRevoked: lang.Text("Registration token revoked"),

	audit.ConnectionEnded:   lang.Text("Connection ended"),
	audit.InstallationEnded: lang.Text("Installation ended"),
	audit.RefreshReused:     lang.Text("Old refresh token used; installation ended"),
	audit.TokenRevoked:      lang.Text("Personal token revoked"),
	audit.KeyRotated:        lang.Text("Signing keys rotated"),
	audit.KeyDropped:        lang.Text("Signing key dropped"),
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
	"connections": lang.Text("Connections"),
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
