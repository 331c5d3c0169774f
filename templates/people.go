package templates

import "github.com/a-h/templ"

// ProviderView is a button that leads to a provider.
type ProviderView struct {
	Name   string
	Action templ.SafeURL
	Token  string
}

// WaysView are the ways in besides a password, and what is to go along with them.
type WaysView struct {
	Providers []ProviderView
	// Request, Return and Invite say what to go on with; Again asks for a fresh proof.
	Request, Return, Invite string
	Again                   bool
}

// SentView says that a letter is on its way, whether it is or not.
type SentView struct {
	Shell ShellView
	Text  string
	Hint  string
}

// AskEmailView asks for an address to send a link to.
type AskEmailView struct {
	Shell  ShellView
	Token  string
	Action templ.SafeURL
	// Lead says what for, Label names the field, Button the button.
	Lead, Label, Button string
	Email               string
	Problem             string
	// Ways are other ways, shown below; NoMail leaves the form out.
	Ways   WaysView
	NoMail string
	// Back is where Cancel leads; empty for none.
	Back templ.SafeURL
}

// NewPersonView is the form that makes a person.
type NewPersonView struct {
	Shell  ShellView
	Token  string
	Action templ.SafeURL
	Link   string // the token of the link
	// Fixed is the address when the link is for one; Email what was entered otherwise.
	Fixed, Email, Name string
	// Location is shown when AskLocation is.
	AskLocation bool
	Location    string
	Problem     string
}

// InviteView opens an invitation.
type InviteView struct {
	Shell ShellView
	// Inviter invites into Location as Role.
	Inviter, Location, Role string
	Expires                 TimeView
	// Person is who is signed in; JoinToken lets them join, SwitchToken sign out first.
	Person, JoinToken, SwitchToken string
	Link                           string
	SignIn                         templ.SafeURL
	New                            NewPersonView
	Ways                           WaysView
	Problem                        string
}

// LocationPeopleView is who belongs to a location.
type LocationPeopleView struct {
	Shell    ShellView
	Location string
	// Others are the person's other locations.
	Others  []LinkView
	Members []MemberView
	// Manage shows invitations and the form for one.
	Manage       bool
	Invitations  []InvitationView
	InviteAction templ.SafeURL
	InviteToken  string
	Roles        []ChoiceView
	Email        string
	Mail         bool
	Problem      string
	Made         string // the link of an invitation just made
	MadeFor      string
	LeaveAction  templ.SafeURL
	LeaveToken   string
}

// MemberView is a person in a location.
type MemberView struct {
	Name, Role string
	Joined     TimeView
	This       bool
	// Options are the roles to choose from; none when this member cannot be changed.
	Options                              []OptionView
	RoleAction, RemoveAction, HandAction templ.SafeURL
	RoleToken, RemoveToken, HandToken    string
	FieldID                              string
}

// InvitationView is an open invitation.
type InvitationView struct {
	For, Role, Inviter string
	Expires            TimeView
	Action             templ.SafeURL
	Token              string
}

// ConfirmView asks whether something shall be done.
type ConfirmView struct {
	Shell  ShellView
	Action templ.SafeURL
	Token  string
	Link   string
	Lines  []string
	Button string
}

// IdentitiesView are a person's identities at providers.
type IdentitiesView struct {
	Shell      ShellView
	Identities []IdentityView
	Ways       WaysView
	Problem    string
}

// IdentityView is one identity.
type IdentityView struct {
	Name, Email string
	Linked      TimeView
	LastUsed    *TimeView
	Action      templ.SafeURL
	Token       string
}

// DeletionView asks for the deletion of an account.
type DeletionView struct {
	Shell ShellView
	Token string
	// Wait says how long it takes.
	Wait string
	// Alone are locations that go too, Shared such that must be handed over first.
	Alone, Shared []string
	LastAdmin     bool
	Problem       string
}

// ProvidersView are the providers, for administrators.
type ProvidersView struct {
	Admin     AdminShellView
	Providers []ProviderRowView
	Token     string
	// What was entered.
	Slug, Name, Issuer, ClientID, Domains string
	SignUp                                bool
	// SignUpMode says what the sign-up policy is.
	SignUpMode string
	Problem    string
}

// ProviderRowView is one provider, for administrators.
type ProviderRowView struct {
	Name, Issuer, ClientID, Domains, Callback string
	SignUp                                    bool
	Added                                     TimeView
	Action                                    templ.SafeURL
	Token                                     string
}

// AccountMoreView is what else there is about an account.
type AccountMoreView struct {
	// Identities says that there are providers.
	Identities bool
	AllToken   string
}

// AdminAddressView is the form that gives a person another address.
type AdminAddressView struct {
	Admin             AdminShellView
	Token, Email, New string
	Problem           string
}
