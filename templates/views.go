package templates

// ShellView is what surrounds every page.
type ShellView struct {
	// Title is the page's heading and the first part of the window's title.
	Title string
	// Person is who is signed in, by name; empty when nobody is.
	Person string
	// Administrator shows the way to the administration.
	Administrator bool
	// Current marks the page in the navigation: one of the Nav… constants or empty.
	Current string
	// SignOutToken is the form token of the sign-out button.
	SignOutToken string
	// LanguageToken is the form token of the language switch, which a page without it does not have; Here is the local path
	// that it comes back to.
	LanguageToken string
	Here          string
	// Notice is a short message about what was just done.
	Notice string
	// RefreshSeconds, when positive, makes the browser load the page anew after that time.
	RefreshSeconds int
}

// Places in the navigation.
const (
	NavHome        = "home"
	NavConnect     = "connect"
	NavConnections = "connections"
	NavAccount     = "account"
	NavPeople      = "people"
)

// TimeView is a moment: for machines, in full, and as people say it.
type TimeView struct {
	ISO  string
	Full string
	Text string
}

// ChoiceView is one tick or radio button.
type ChoiceView struct {
	Value  string
	Title  string
	Detail string
	Ticked bool
	// Mark is a short label beside the title ("new", "has it now"), or empty.
	Mark string
	// Fresh makes the mark stand out.
	Fresh bool
}

// AppView is who a client says it is and what is known of that.
type AppView struct {
	// Name is what the client calls itself.
	Name string
	// Host is the host its metadata document came from; empty when the client registered itself.
	Host string
	// Trusted says that an administrator entered the client.
	Trusted bool
}
