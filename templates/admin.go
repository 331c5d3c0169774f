package templates

import "github.com/a-h/templ"

// NavAdmin is the place of the administration in the navigation.
const NavAdmin = "admin"

// AdminShellView surrounds every page of the administration.
type AdminShellView struct {
	Shell ShellView
	// Sections is the navigation within the administration.
	Sections []SectionView
}

// SectionView is one entry of the administration's navigation.
type SectionView struct {
	Label   string
	Path    templ.SafeURL
	Current bool
}

// AdminOverviewView is the start page of the administration.
type AdminOverviewView struct {
	Admin  AdminShellView
	Tiles  []AdminTileView
	Latest []AuditEntryView
}

// AdminTileView is a figure that leads to its page.
type AdminTileView struct {
	Path  templ.SafeURL
	Title string
	Text  string
}

// AuditView is the audit record.
type AuditView struct {
	Admin AdminShellView
	// Person, Client, Connection, From and Until are what the filter's fields hold, Actions what it can choose from.
	Person, Client, Connection, From, Until string
	Actions                                 []OptionView
	Filtered                                bool
	Problem                                 string
	Entries                                 []AuditEntryView
	// Next leads to older entries; empty at the end.
	Next templ.SafeURL
}

// OptionView is one entry of a list to choose from.
type OptionView struct {
	Value, Label string
	Chosen       bool
}

// AuditEntryView is one entry of the audit record.
type AuditEntryView struct {
	At     TimeView
	Action string
	// Who acted, whom and what it was about, from where; empty when there is none.
	Who, Person, Client, Connection, Address string
	Facts                                    []FactView
}

// AdminIssuersView lists the issuers whose assertions are accepted.
type AdminIssuersView struct {
	Admin   AdminShellView
	Issuers []IssuerView
	// Token is the form token of adding.
	Token string
	Form  IssuerFormView
}

// IssuerView is one trusted issuer.
type IssuerView struct {
	Issuer string
	Facts  []FactView
	// RemoveToken is the form token of its button.
	RemoveToken string
}

// IssuerFormView is the form of a new issuer, with what was typed.
type IssuerFormView struct {
	Issuer, Tenant, JWKSURI, JWKS, Domains, Locations, IgnoredClaims string
	Algorithms, Scopes                                               []ChoiceView
	CreatesPeople, SingleUse                                         bool
	Problem                                                          string
}
