package templates

import "github.com/a-h/templ"

// ActivityView is the page of what a connection or personal token wrote.
type ActivityView struct {
	Shell ShellView
	// App is nil for a token.
	App *AppView
	// Ended says that the connection or token is over; what it did can be undone all the same.
	Ended bool
	// Problem says why the last undo did not happen, Result what a bulk undo came to.
	Problem string
	Result  *UndoResultView
	// All is the form that undoes everything since a time; nil when nothing can be undone.
	All     *UndoAllView
	Entries []ActivityEntryView
	// Newer leads to the first page, Older to the next one; empty where there is none.
	Newer templ.SafeURL
	Older templ.SafeURL
}

// UndoResultView is what a bulk undo came to.
type UndoResultView struct {
	Summary string
	Refused []RefusedView
}

// RefusedView is a change that was not undone.
type RefusedView struct {
	What string
	Why  string
}

// UndoAllView is the form that undoes everything since a time.
type UndoAllView struct {
	Action  templ.SafeURL
	Token   string
	Choices []ChoiceView
}

// ActivityEntryView is one write.
type ActivityEntryView struct {
	At       TimeView
	Summary  string
	Location string
	Changes  []ChangeView
	// Folded keeps the changes closed until asked for.
	Folded bool
	// Action undoes it, where UndoUntil is set; Token is its form token.
	Action    templ.SafeURL
	Token     string
	UndoUntil *TimeView
	// State says why it cannot be undone, or that it was.
	State string
}

// ChangeView is a field that a write changed. Hidden is set where the reader may not see the values.
type ChangeView struct {
	Field  string
	From   string
	To     string
	Hidden bool
}

// EndedView is a connection or token that ended a short while ago.
type EndedView struct {
	Name     string
	Ended    TimeView
	Activity templ.SafeURL
}
