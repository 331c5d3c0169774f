package templates

import "github.com/a-h/templ"

// ConsentView is the page on which a person decides about an app.
type ConsentView struct {
	Shell ShellView
	// Action is where the decision is posted.
	Action templ.SafeURL
	Token  string
	App    AppView
	// RedirectHost is where the answer goes.
	RedirectHost string
	// ThisComputer says that the answer goes to a program on the person's computer (loopback or private-use scheme), so
	// that any program there could be asking.
	ThisComputer bool
	// OtherHost says that the answer goes to another host than the one the app's document came from.
	OtherHost bool
	// Resource is the name of what the app wants to reach.
	Resource string
	// PersonName and PersonEmail say as whom.
	PersonName  string
	PersonEmail string
	// SwitchToken is the form token of the "not you?" button, RequestID what to come back to.
	SwitchToken string
	RequestID   string
	Scopes      []ChoiceView
	// Located says that the app acts at locations, so that the page asks where.
	Located   bool
	Locations []ChoiceView
	Expiries  []ChoiceView
	// NewHost says that nobody here connected an app of this host before.
	NewHost bool
	// Logo is where the app's logo is; empty for none.
	Logo string
	// Changed is what the app says differently about itself since ChangedSince, when the person last approved it.
	Changed      []string
	ChangedSince TimeView
	// Tools are the single tools to choose from; none leaves the choice out. ToolsOpen unfolds it: the app asks for these
	// tools alone, or something about them is wrong.
	Tools     []ChoiceView
	ToolsOpen bool
	// Existing is set when the person approved this app before.
	Existing *ExistingView
	Problem  string
}

// ExistingView is what an app has already.
type ExistingView struct {
	Since     TimeView
	Scopes    []string
	Locations []string
	// Adds are the scopes asked for now that the app does not have.
	Adds []string
	// Drops are what the app has now and does not ask for.
	Drops []string
	// Tools says how many tools it may use when these are not all, Limits how they are bound.
	Tools  string
	Limits []string
	// Expires is when it ends now; nil for no end.
	Expires *TimeView
	// Anew says that the app asks for a new connection, so that this one ends; Adding that nothing is taken away.
	Anew, Adding bool
}

// DecidedView is shown when a request was decided before: a second click or a reload.
type DecidedView struct {
	Shell   ShellView
	Allowed bool
}

// LeaveView is shown instead of a redirect to a target that nobody vouches for.
type LeaveView struct {
	Shell ShellView
	// Host is where the link leads, URL the link itself.
	Host string
	URL  templ.SafeURL
	// Denied says that the person denied; otherwise the request was refused for the Reason.
	Denied bool
	Reason string
	// Correlation finds the attempt in the record.
	Correlation string
}

// ErrorView is the page for what cannot be done.
type ErrorView struct {
	Shell ShellView
	// What failed, the likely Cause, and what the person can do.
	What   string
	Cause  string
	Advice []string
	// Code and Detail are for the app's developer.
	Code   string
	Detail string
	// Correlation finds the attempt in the record and the log.
	Correlation string
}
