package templates

import "github.com/a-h/templ"

// SecondFactorView asks for the code that follows a password.
type SecondFactorView struct {
	Shell ShellView
	// Token is the form token; PasskeyToken and CancelToken are those of the ways out.
	Token        string
	PasskeyToken string
	Email        string
	// Request and Return say what to go on with; at most one is set.
	Request  string
	Return   string
	Passkeys bool
	Problem  string
}

// PasskeyView lets the browser ask for a passkey, and sends its answer on.
type PasskeyView struct {
	Shell ShellView
	Token string
	// Lead says what it is for.
	Lead   string
	Action templ.SafeURL
	// Create asks for a new passkey, otherwise for a known one. Options is what the browser is called with, in JSON.
	Create   bool
	Options  string
	Ceremony string
	// Hidden are fields to send along.
	Hidden []HiddenView
	// Back leads out.
	Back    templ.SafeURL
	Problem string
}

// HiddenView is a field that nobody sees.
type HiddenView struct{ Name, Value string }

// FactorsView is how a person signs in.
type FactorsView struct {
	Shell ShellView
	Email string
	// Problem is what refused the last change.
	Problem string
	// Password says that there is one; SetToken is of the form that sets one, DropToken of the one that takes it away, which
	// is offered when MayDrop.
	Password  bool
	MayDrop   bool
	SetToken  string
	DropToken string
	// Passkeys are those there are. NoPasskeys, when set, says why none can be added.
	Passkeys   []PasskeyLineView
	NoPasskeys string
	AddToken   string
	// Codes is set while an authenticator app is in use.
	Codes         *TimeView
	ShortPassword bool
	CodesToken    string
	RecoveryLeft  int
	RecoveryToken string
}

// PasskeyLineView is one passkey in the list.
type PasskeyLineView struct {
	Name string
	// Synced says that it is copied between devices.
	Synced      bool
	Added       TimeView
	LastUsed    *TimeView
	WentBack    *TimeView
	Rename      templ.SafeURL
	RenameID    string
	RenameToken string
	Remove      templ.SafeURL
	RemoveToken string
}

// EnrolView sets up an authenticator app.
type EnrolView struct {
	Shell ShellView
	Token string
	// Secret is the seed in groups of four.
	Secret string
	// QR is the path of the picture, QRSize its size in modules.
	QR      string
	QRSize  string
	Problem string
}

// RecoveryCodesView shows recovery codes, this once.
type RecoveryCodesView struct {
	Shell    ShellView
	Codes    []string
	Download templ.SafeURL
	// Fresh says that the authenticator app was just set up.
	Fresh bool
}
