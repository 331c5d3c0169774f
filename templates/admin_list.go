package templates

import "github.com/a-h/templ"

// AdminListView is a page of the administration that lists things, with a filter and pages.
type AdminListView struct {
	Admin AdminShellView
	Lead  string
	// Path is the page's own address; Filters are the fields of its filter.
	Path     templ.SafeURL
	Filters  []FilterView
	Filtered bool
	Problem  string
	// Links stand beside the list's head.
	Links []LinkView
	// Buttons act on the whole list; each explains itself.
	Actions []AdminActionView
	Rows    []AdminRowView
	// Empty is shown in place of rows.
	Empty string
	// Newer and Older lead to the pages beside this one; empty at the ends.
	Newer, Older templ.SafeURL
}

// FilterView is one field of a filter: a text, a choice when Options are set, or a tick.
type FilterView struct {
	Name, Label, Value string
	Options            []OptionView
	Tick, Ticked       bool
}

// LinkView is a link.
type LinkView struct {
	Path  templ.SafeURL
	Label string
}

// AdminRowView is one thing of a list.
type AdminRowView struct {
	Title string
	// Link leads to the thing's own page; empty when it has none.
	Link    templ.SafeURL
	Badges  []BadgeView
	Facts   []AdminFactView
	Buttons []ButtonView
}

// BadgeView is a short mark. Tone is "good", "bad" or empty.
type BadgeView struct{ Text, Tone string }

// AdminFactView is a fact: texts, a time, or both.
type AdminFactView struct {
	Label string
	Texts []string
	Time  *TimeView
	// Link, when set, leads from the first text on.
	Link templ.SafeURL
}

// ButtonView is a form of one button.
type ButtonView struct {
	Action templ.SafeURL
	Token  string
	Label  string
	// About names what the button acts on, for whoever hears the page.
	About  string
	Danger bool
}

// AdminDetailView is a page of the administration about one thing.
type AdminDetailView struct {
	Admin    AdminShellView
	Back     LinkView
	Badges   []BadgeView
	Facts    []AdminFactView
	Links    []LinkView
	Sections []AdminSectionView
	// Steps are those of an attempt to connect.
	Steps   []StepView
	Actions []AdminActionView
}

// AdminSectionView is a list within a page about one thing.
type AdminSectionView struct {
	ID, Title string
	Rows      []AdminRowView
}

// AdminActionView is something that can be done, with what it means. Confirm, when set, is a box that must be ticked.
type AdminActionView struct {
	ID, Title, Text string
	Confirm         string
	Button          ButtonView
}

// AdminFormView is a form of the administration.
type AdminFormView struct {
	Admin   AdminShellView
	Back    LinkView
	Lead    string
	Problem string
	Action  templ.SafeURL
	Token   string
	Groups  []FieldGroupView
	Submit  string
}

// FieldGroupView is a part of a form under one legend.
type FieldGroupView struct {
	Legend string
	Fields []FieldView
}

// FieldView is a field of a form: a text, several lines, a tick, or one of several choices.
type FieldView struct {
	Name, Label, Hint, Value, Type string
	Required, Lines                bool
	Tick                           *ChoiceView
	Choices                        []ChoiceView
}

// OnceView shows what can be seen this once.
type OnceView struct {
	Admin AdminShellView
	Back  LinkView
	Text  string
	// Values are the things to copy.
	Values []SnippetView
}
