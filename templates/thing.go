package templates

// ThingView is the page of one thing. It only shows.
type ThingView struct {
	// Shell has the thing's name as its title.
	Shell ShellView
	// Code is the short code as it is printed.
	Code    string
	Aliases []string
	// States are what is special about the thing now, in words.
	States []string
	Facts  []FactView
	Tags   []string
	Notes  string
	// Custom are the fields that the thing's type defines.
	Custom []FactView
}

// FactView is one line of facts: a text, or a moment.
type FactView struct {
	Label string
	Text  string
	// At, when set, stands in place of the text.
	At *TimeView
}
