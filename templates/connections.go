package templates

import "github.com/a-h/templ"

// ConnectionsView is Settings → Connections.
type ConnectionsView struct {
	Shell       ShellView
	Connections []ConnectionView
	// Ended are connections and tokens that ended within the time in which what they did can be undone.
	Ended    []EndedView
	Tokens   []TokenView
	NewToken NewTokenView
}

// ConnectionView is one connected app.
type ConnectionView struct {
	ID       string
	App      AppView
	Resource string
	Scopes   []string
	// Located says that the app acts at locations.
	Located   bool
	Locations []string
	// Tools says how many tools it may use when these are not all, Limits how they are bound.
	Tools   string
	Limits  []string
	Created TimeView
	// LastUsed and Expires are nil for never; LastUse says from where and for what.
	LastUsed *TimeView
	LastUse  string
	Expires  *TimeView
	Edit     templ.SafeURL
	// Activity leads to what the app wrote.
	Activity templ.SafeURL
	// EndAction ends the connection; EndToken is its form token.
	EndAction     templ.SafeURL
	EndToken      string
	Installations []InstallationView
	// Reused are installations that ended because an old copy of their sign-in was used.
	Reused []ReuseView
}

// ReuseView is an installation that ended because an old copy of its sign-in was used.
type ReuseView struct {
	Device string
	At     TimeView
}

// InstallationView is one installation of an app under a connection.
type InstallationView struct {
	Device    string
	FirstSeen TimeView
	LastUsed  *TimeView
	// LastUse says from where and for what the last use was.
	LastUse   string
	EndAction templ.SafeURL
	EndToken  string
}

// TokenView is one personal token in the list.
type TokenView struct {
	Name string
	// Activity leads to what was written with the token.
	Activity  templ.SafeURL
	Lookup    string
	Scope     string
	Locations []string
	Created   TimeView
	LastUsed  *TimeView
	Expires   *TimeView
	EndAction templ.SafeURL
	EndToken  string
}

// NewTokenView is the form for a new personal token.
type NewTokenView struct {
	// Unavailable, when set, says why no token can be made.
	Unavailable string
	Token       string
	// Once makes the form one of a kind, so that sending it twice makes one token.
	Once      string
	Name      string
	Scopes    []ChoiceView
	Locations []ChoiceView
	Expiries  []ChoiceView
	Problem   string
	// ConfirmCross asks to confirm a writing token over locations with different members.
	ConfirmCross bool
}

// TokenCreatedView shows a new personal token, once.
type TokenCreatedView struct {
	Shell    ShellView
	Name     string
	Secret   string
	Settings []SnippetView
	Warning  string
}

// SnippetView is a piece of text to copy into a client.
type SnippetView struct {
	Title string
	Where string
	Text  string
}

// ConnectionEditView is the page that changes a connection.
type ConnectionEditView struct {
	Shell  ShellView
	App    AppView
	Action templ.SafeURL
	Token  string
	Scopes []ChoiceView
	// Located says that the app acts at locations.
	Located   bool
	Locations []ChoiceView
	// Expiries are the ends to choose from.
	Expiries []ChoiceView
	// Tools are the single tools; none leaves the choice out. Limits are those that bind them now, ticked while they stay.
	Tools  []ChoiceView
	Limits []ChoiceView
	// LimitTargets are what a new limit can bind; LimitMaximum and LimitValue what the form held.
	LimitTargets []OptionView
	LimitMaximum bool
	LimitValue   string
	Problem      string
}
