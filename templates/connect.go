package templates

import "github.com/a-h/templ"

// ConnectView is Settings → Connect.
type ConnectView struct {
	Shell ShellView
	// URL is the address to paste into an app. Unavailable, when set, says why no app can connect; the address and the
	// guides are not shown then.
	URL         string
	Unavailable string
	// LocalOnly says that the address works on this computer alone.
	LocalOnly bool
	Guides    []GuideView
	Attempts  []AttemptView
	// Refresh loads the page again, Watch toggles doing so by itself; Watching tells which state holds.
	Refresh  templ.SafeURL
	Watch    templ.SafeURL
	Watching bool
	// Live is where the page's script hears of news; empty when it does not run.
	Live string
}

// GuideView is the short instruction for one app.
type GuideView struct {
	App   string
	Steps []GuideStepView
}

// GuideStepView is one step of an instruction, with the text to copy for it, if any.
type GuideStepView struct {
	Text    string
	Snippet string
}

// AttemptView is one recorded attempt to connect.
type AttemptView struct {
	ID      string
	App     string
	Started TimeView
	// State is "done", "ended", "failed" or "going"; Summary says it in words.
	State   string
	Summary string
	Steps   []StepView
	// Open shows the steps at once.
	Open bool
}

// StepView is one step of an attempt.
type StepView struct {
	Title  string
	At     TimeView
	Failed bool
	// Reason is why a check refused, Advice what to do about it, Detail a short fact.
	Reason string
	Advice string
	Detail string
}

// AccountView is Settings → Account.
type AccountView struct {
	Shell    ShellView
	Name     string
	Email    string
	Problem  string
	Password string // form token of the password form
	// NoPassword says that there is none to change; Second, that a code follows it.
	NoPassword bool
	Second     bool
	Sessions   []SessionView
	// OthersToken is the form token of "sign out everywhere else".
	OthersToken string
	More        AccountMoreView
}

// SessionView is one place where the person is signed in.
type SessionView struct {
	Device    string
	Address   string
	SignedIn  TimeView
	LastSeen  TimeView
	This      bool
	EndAction templ.SafeURL
	EndToken  string
}
