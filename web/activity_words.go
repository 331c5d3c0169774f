package web

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"gatehouse/app/activity"
	"gatehouse/app/inventory"
	"gatehouse/templates"
)

// sinceChoices are how far back "undo everything" can reach.
var sinceChoices = []struct {
	value, title string
	back         time.Duration
}{
	{"hour", "The last hour", time.Hour},
	{"day", "The last 24 hours", 24 * time.Hour},
	{"days", "The last 3 days", 3 * 24 * time.Hour},
	{"all", "All 7 days", activity.UndoFor},
}

func sinceViews() []templates.ChoiceView {
	var out []templates.ChoiceView
	for i, c := range sinceChoices {
		out = append(out, templates.ChoiceView{Value: c.value, Title: c.title, Ticked: i == 0})
	}
	return out
}

// Bounds of what the page shows of one entry.
const (
	shownValue   = 200
	shownOpen    = 4
	shownRefused = 50
)

func (a *activityPage) entryView(e inventory.SeenEntry) templates.ActivityEntryView {
	v := templates.ActivityEntryView{
		At: a.timeView(e.At), Summary: e.Summary, Location: e.LocationName, Folded: len(e.Changes) > shownOpen, State: a.state(e),
	}
	// The form sends the time back to say from where to undo, so it keeps its fraction.
	v.At.ISO = e.At.UTC().Format(time.RFC3339Nano)
	for _, c := range e.Changes {
		v.Changes = append(v.Changes, templates.ChangeView{Field: c.Field, From: shorten(c.From), To: shorten(c.To), Hidden: c.Hidden})
	}
	if e.UndoUntil != nil && e.MayUndo {
		v.UndoUntil = a.timeViewOf(e.UndoUntil)
		v.Action = templ.SafeURL(a.path + "/" + url.PathEscape(e.ID) + "/undo")
		v.Token = visitOf(a.c).formToken(purposeUndo(a.path, e.ID))
	}
	return v
}

func shorten(text string) string {
	if signs := []rune(text); len(signs) > shownValue {
		return string(signs[:shownValue]) + "…"
	}
	return text
}

// state says why an entry has no undo button, or nothing.
func (a *activityPage) state(e inventory.SeenEntry) string {
	switch {
	case e.UndoneAt != nil && e.UndoneBy != "":
		return "undone " + sinceWords(e.UndoneAt.UTC(), a.now().UTC()) + " by " + e.UndoneBy
	case e.UndoneAt != nil:
		return "undone " + sinceWords(e.UndoneAt.UTC(), a.now().UTC())
	case e.UndoUntil != nil && !e.MayUndo:
		return "your role here does not let you undo it"
	case e.UndoUntil != nil:
		return ""
	case !a.now().Before(e.At.Add(activity.UndoFor)):
		return "too old to be undone"
	}
	return "cannot be undone"
}

func (a *activityPage) undoResultView(r inventory.UndoResult, seen map[string]inventory.SeenEntry) *templates.UndoResultView {
	v := &templates.UndoResultView{Summary: "Nothing was undone."}
	if n := len(r.Undone); n > 0 {
		v.Summary = "Undone: " + plural(n, "change") + "."
	}
	if r.More {
		v.Summary += " There is more; undo again to go on."
	}
	for i, refusal := range r.Refused {
		if i == shownRefused {
			v.Refused = append(v.Refused, templates.RefusedView{What: fmt.Sprintf("And %s more.", plural(len(r.Refused)-i, "change"))})
			break
		}
		v.Refused = append(v.Refused, templates.RefusedView{What: seen[refusal.EventID].Summary, Why: a.why(refusal, seen[refusal.EventID].Action)})
	}
	return v
}

// notUndone is what the page says about one change that was not undone.
func (a *activityPage) notUndone(r inventory.UndoRefusal, seen map[string]inventory.SeenEntry) string {
	text := "Not undone. " + seen[r.EventID].Summary
	return strings.TrimSpace(text) + " " + a.why(r, seen[r.EventID].Action)
}

// why says in a sentence why a change was not undone, and what the person can do.
func (a *activityPage) why(r inventory.UndoRefusal, action string) string {
	switch r.Reason {
	case inventory.ReasonExpired:
		return "It is more than 7 days old."
	case inventory.ReasonAlreadyUndone:
		return "It was undone already."
	case inventory.ReasonChangedSince:
		return a.changedSince(r)
	case inventory.ReasonInUse:
		return inTheWay(action)
	case inventory.ReasonForbidden:
		return "Your role in the location does not let you undo it; ask its owner."
	case inventory.ReasonNotFound:
		return "There is no such change, or it is in a location you do not belong to."
	}
	return "A change of this kind cannot be undone."
}

func (a *activityPage) changedSince(r inventory.UndoRefusal) string {
	what := "It was"
	switch names := inventory.FieldNames(r.Fields); len(names) {
	case 1:
		what = "The " + names[0] + " was"
	case 2:
		what = "The " + names[0] + " and " + names[1] + " were"
	}
	return what + " changed since" + a.byWhom(r.ChangedBy) + ". Undo the later change first."
}

func (a *activityPage) byWhom(by *inventory.ActorRef) string {
	switch {
	case by == nil || by.ID == "":
		return ""
	case by.ID == a.through.ConnectionID:
		return " by this app"
	case by.ID == a.through.TokenID:
		return " by this token"
	case by.Name == "":
		return " by somebody else"
	case slices.Contains([]string{"connection", "token", "addon"}, by.Type):
		return " by an app of " + by.Name
	}
	return " by " + by.Name
}

// inTheWay names what blocks the way back, by what had been done.
func inTheWay(action string) string {
	switch action {
	case "thing.create":
		return "Other things are in it now; move them out first."
	case "place.create":
		return "There is something in the place now, or the place is gone."
	case "thing.move":
		return "Where it came from is gone or cannot take it any more, or the thing itself is gone."
	}
	return "What it was before no longer fits with what else has changed, or the thing is gone."
}
