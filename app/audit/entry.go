package audit

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Kinds of actors.
const (
	// ActorPerson is somebody in a browser; the entry's ActorID is their id.
	ActorPerson = "person"
	// ActorCLI is whoever runs a command on the machine.
	ActorCLI = "cli"
	// ActorClient is an OAuth client; the entry's ActorID is its id.
	ActorClient = "client"
	// ActorServer is the program itself: a job, or a rule that took effect.
	ActorServer = "server"
)

// Actions that are recorded. A name is a noun and what happened to it; others may be added where they are needed.
const (
	PersonAdded        = "person.added"
	PersonDisabled     = "person.disabled"
	PersonEnabled      = "person.enabled"
	PersonPromoted     = "person.made_administrator"
	PersonDemoted      = "person.no_administrator"
	ResetLinkMade      = "person.reset_link_made"
	ClientAdded        = "client.added"
	ClientBlocked      = "client.blocked"
	ClientUnblocked    = "client.unblocked"
	ClientDeleted      = "client.deleted"
	ConnectionEnded    = "connection.ended"
	InstallationEnded  = "installation.ended"
	RefreshReused      = "refresh_token.reused"
	TokenRevoked       = "personal_token.revoked"
	KeyRotated         = "key.rotated"
	KeyDropped         = "key.dropped"
	IdentityLinked     = "identity.linked"
	IdentityUnlinked   = "identity.unlinked"
	EmailChanged       = "person.email_changed"
	DeletionRequested  = "person.deletion_requested"
	DeletionWithdrawn  = "person.deletion_withdrawn"
	InvitationMade     = "invitation.made"
	InvitationAccepted = "invitation.accepted"
	InvitationRevoked  = "invitation.revoked"
	MemberChanged      = "member.changed"
	ProviderAdded      = "provider.added"
	ProviderRemoved    = "provider.removed"
	ConnectionChanged  = "connection.changed"
	// ClientGranted: access that an administrator gave for a person; ClientDevices: the switch of the device grant.
	ClientGranted = "client.granted"
	ClientDevices = "client.device_grant"
	// DeviceConnected: a person allowed a device by its code.
	DeviceConnected = "connection.device_allowed"
	IssuerAdded     = "issuer.added"
	IssuerRemoved   = "issuer.removed"
	// PersonLinked: an issuer of assertions vouched for a person by their address.
	PersonLinked = "person.linked_to_issuer"
)

// Entry is one thing that was done. Empty fields are unknown or do not apply.
type Entry struct {
	ID string
	At time.Time
	// Actor is one of the Actor… kinds; ActorID says which person or client.
	Actor, ActorID string
	// Action is one of the names above.
	Action string
	// PersonID, ClientID and ConnectionID are what it was about.
	PersonID, ClientID, ConnectionID string
	// Address is the network address it came from.
	Address string
	// Detail holds a few short facts by name; never a secret.
	Detail map[string]string

	// Names of the people and the client, filled in by List while they exist.
	ActorName, PersonName, ClientName string
}

// Filter says which entries to list, the newest first. Empty fields do not narrow.
type Filter struct {
	// PersonID matches who acted and whom it was about.
	PersonID string
	// Action matches a whole name, or all names with a noun: "client" matches "client.blocked".
	Action       string
	ClientID     string
	ConnectionID string
	// From and Until bound the time: From is included, Until is not.
	From, Until time.Time
	// Before is the id of the last entry of the page before.
	Before string
	Limit  int
}

// Lengths that stored texts are cut to.
const (
	maxText  = 300
	maxFacts = 12
)

// clean cuts texts and drops what cannot be stored.
func (e *Entry) clean() {
	e.Actor, e.Action, e.Address = cut(e.Actor, 16), cut(e.Action, 64), cut(e.Address, 64)
	e.ActorID, e.ClientID = cut(e.ActorID, 512), cut(e.ClientID, 512)
	facts := make(map[string]string, len(e.Detail))
	for name, value := range e.Detail {
		if value = cut(value, maxText); value != "" && len(facts) < maxFacts {
			facts[cut(name, 32)] = value
		}
	}
	e.Detail = facts
}

func cut(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
