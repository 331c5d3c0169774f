package templates

// SignInView is the sign-in page.
type SignInView struct {
	Shell ShellView
	// Token is the form token.
	Token string
	Email string
	// Request is the id of the authorization request to go on with, Return the local path; at most one is set.
	Request string
	Return  string
	// App is the name of the app that waits, when known; a claim of the app.
	App string
	// Again says that the person is signed in and the app wants a fresh sign-in.
	Again bool
	// Stronger says that the app wants more than a password.
	Stronger bool
	// Confirm says that the person is signed in and a page of ours wants a fresh sign-in.
	Confirm bool
	// Nobody says that there is no person yet who could sign in.
	Nobody bool
	// Ways are the providers. Forgot offers a letter with a reset link, SignUp an account.
	Ways           WaysView
	Forgot, SignUp bool
	Problem        string
	// Passkeys offers to sign in with one.
	Passkeys bool
}

// SetupView is the page that makes the first administrator.
type SetupView struct {
	Shell    ShellView
	Token    string
	Link     string // the token of the set-up link
	Name     string
	Email    string
	Location string
	Problem  string
}

// ResetView is the page that sets a new password by link.
type ResetView struct {
	Shell ShellView
	Token string
	Link  string // the token of the reset link
	Email string // whose password it is; empty when it need not be shown
	// Lost offers to take second factors and passkeys away as well; Second says that a code follows the password.
	Lost    bool
	Second  bool
	Problem string
}

// HomeView is the page at /.
type HomeView struct {
	Shell ShellView
	// URL is the address to paste into an app. Unavailable, when set, says why no app can connect; URL is not shown then.
	URL         string
	Unavailable string
	Connections int
	Locations   []string
}
