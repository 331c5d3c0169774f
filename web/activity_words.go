package web

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"gatehouse/app/activity"
	"gatehouse/app/inventory"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// sinceChoices are how far back "undo everything" can reach.
var sinceChoices = []struct {
	value, title string
	back         time.Duration
}{
	{"hour", lang.Text("The last hour"), time.Hour},
	{"day", lang.Text("The last 24 hours"), 24 * time.Hour},
	{"days", lang.Text("The last 3 days"), 3 * 24 * time.Hour},
	{"all", lang.Text("All 7 days"), activity.UndoFor},
}

func sinceViews(ctx context.Context) []templates.ChoiceView {
	var out []templates.ChoiceView
	for i, c := range sinceChoices {
		out = append(out, templates.ChoiceView{Value: c.value, Title: lang.T(ctx, c.title), Ticked: i == 0})
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
		At: a.timeView(a.ctx(), e.At), Summary: a.summary(e), Location: e.LocationName, Folded: len(e.Changes) > shownOpen, State: a.state(e),
	}
	// The form sends the time back to say from where to undo, so it keeps its fraction.
	v.At.ISO = e.At.UTC().Format(time.RFC3339Nano)
	for _, c := range e.Changes {
		v.Changes = append(v.Changes, templates.ChangeView{Field: fieldWord(a.ctx(), c.Field), From: a.value(c.From), To: a.value(c.To), Hidden: c.Hidden})
	}
	if e.UndoUntil != nil && e.MayUndo {
		v.UndoUntil = a.timeViewOf(a.ctx(), e.UndoUntil)
		v.Action = templ.SafeURL(a.path + "/" + url.PathEscape(e.ID) + "/undo")
		v.Token = visitOf(a.c).formToken(purposeUndo(a.path, e.ID))
	}
	return v
}

func (a *activityPage) ctx() context.Context { return a.c.Request().Context() }

// summary is the sentence about an entry.
func (a *activityPage) summary(e inventory.SeenEntry) string {
	ctx, s := a.ctx(), e.Sentence
	if s.Text == "" {
		return e.Summary
	}
	name := lang.T(ctx, "“{name}”", "name", s.Name)
	if s.Name == "" {
		name = lang.T(ctx, gone[s.Type])
	}
	return lang.T(ctx, s.Text, "name", name, "fields", fieldList(ctx, s.Fields))
}

// gone is what to call what has no name any more, by its kind.
var gone = map[string]string{
	"thing": lang.Text("a thing that is gone"), "place": lang.Text("a place that is gone"), "purchase": lang.Text("a purchase that is gone"),
}

// fieldList names changed fields as in "the name and notes".
func fieldList(ctx context.Context, names []string) string {
	switch n := len(names); {
	case n == 0:
		return lang.T(ctx, "something")
	case n > 3:
		return lang.N(ctx, n, "1 field", "{n} fields")
	}
	return lang.T(ctx, "the {list}", "list", lang.List(ctx, fieldNamesIn(ctx, names)))
}

// fieldWords are the fields that the inventory itself has; what people define has their own words.
var fieldWords = wordSet(
	lang.Text("name"), lang.Text("aliases"), lang.Text("type"), lang.Text("brand"), lang.Text("model"), lang.Text("serial"),
	lang.Text("quantity"), lang.Text("condition"), lang.Text("notes"), lang.Text("value"), lang.Text("tags"), lang.Text("place"),
	lang.Text("place above"), lang.Text("use as a container"), lang.Text("date of getting it"), lang.Text("minimum stock"),
	lang.Text("date of purchase"), lang.Text("seller"), lang.Text("price"), lang.Text("reference"), lang.Text("lifecycle"),
)

func wordSet(words ...string) map[string]bool {
	set := map[string]bool{}
	for _, word := range words {
		set[word] = true
	}
	return set
}

func fieldWord(ctx context.Context, field string) string {
	if fieldWords[field] {
		return lang.T(ctx, field)
	}
	return field
}

func fieldNamesIn(ctx context.Context, fields []string) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = fieldWord(ctx, f)
	}
	return out
}

// value shows a value of a field. Those that the inventory puts into words are translated.
func (a *activityPage) value(text string) string {
	switch text {
	case "yes":
		return lang.T(a.ctx(), "yes")
	case "no":
		return lang.T(a.ctx(), "no")
	case "a place that is gone":
		return lang.T(a.ctx(), "a place that is gone")
	}
	return shorten(text)
}

func shorten(text string) string {
	if signs := []rune(text); len(signs) > shownValue {
		return string(signs[:shownValue]) + "…"
	}
	return text
}

// state says why an entry has no undo button, or nothing.
func (a *activityPage) state(e inventory.SeenEntry) string {
	ctx := a.ctx()
	switch {
	case e.UndoneAt != nil && e.UndoneBy != "":
		return lang.T(ctx, "undone {when} by {name}", "when", lang.Since(ctx, *e.UndoneAt, a.now()), "name", e.UndoneBy)
	case e.UndoneAt != nil:
		return lang.T(ctx, "undone {when}", "when", lang.Since(ctx, *e.UndoneAt, a.now()))
	case e.UndoUntil != nil && !e.MayUndo:
		return lang.T(ctx, "your role here does not let you undo it")
	case e.UndoUntil != nil:
		return ""
	case !a.now().Before(e.At.Add(activity.UndoFor)):
		return lang.T(ctx, "too old to be undone")
	}
	return lang.T(ctx, "cannot be undone")
}

func (a *activityPage) undoResultView(r inventory.UndoResult, seen map[string]inventory.SeenEntry) *templates.UndoResultView {
	ctx := a.ctx()
	v := &templates.UndoResultView{Summary: lang.T(ctx, "Nothing was undone.")}
	if n := len(r.Undone); n > 0 {
		v.Summary = lang.N(ctx, n, "Undone: 1 change.", "Undone: {n} changes.")
	}
	if r.More {
		v.Summary += " " + lang.T(ctx, "There is more; undo again to go on.")
	}
	for i, refusal := range r.Refused {
		if i == shownRefused {
			v.Refused = append(v.Refused, templates.RefusedView{What: lang.N(ctx, len(r.Refused)-i, "And 1 change more.", "And {n} changes more.")})
			break
		}
		v.Refused = append(v.Refused, templates.RefusedView{What: a.summary(seen[refusal.EventID]), Why: a.why(refusal, seen[refusal.EventID].Action)})
	}
	return v
}

// notUndone is what the page says about one change that was not undone.
func (a *activityPage) notUndone(r inventory.UndoRefusal, seen map[string]inventory.SeenEntry) string {
	text := lang.T(a.ctx(), "Not undone.") + " " + a.summary(seen[r.EventID])
	return strings.TrimSpace(text) + " " + a.why(r, seen[r.EventID].Action)
}

// why says in a sentence why a change was not undone, and what the person can do.
func (a *activityPage) why(r inventory.UndoRefusal, action string) string {
	ctx := a.ctx()
	switch r.Reason {
	case inventory.ReasonExpired:
		return lang.T(ctx, "It is more than 7 days old.")
	case inventory.ReasonAlreadyUndone:
		return lang.T(ctx, "It was undone already.")
	case inventory.ReasonChangedSince:
		return a.changedSince(r)
	case inventory.ReasonInUse:
		return inTheWay(ctx, action)
	case inventory.ReasonForbidden:
		return lang.T(ctx, "Your role in the location does not let you undo it; ask its owner.")
	case inventory.ReasonNotFound:
		return lang.T(ctx, "There is no such change, or it is in a location you do not belong to.")
	}
	return lang.T(ctx, "A change of this kind cannot be undone.")
}

func (a *activityPage) changedSince(r inventory.UndoRefusal) string {
	ctx, names := a.ctx(), fieldNamesIn(a.ctx(), inventory.FieldNames(r.Fields))
	by := a.byWhom(r.ChangedBy)
	switch {
	case len(names) == 1 && by != "":
		return lang.T(ctx, "The {field} was changed since by {whom}. Undo the later change first.", "field", names[0], "whom", by)
	case len(names) == 1:
		return lang.T(ctx, "The {field} was changed since. Undo the later change first.", "field", names[0])
	case len(names) == 2 && by != "":
		return lang.T(ctx, "The {field} and {other} were changed since by {whom}. Undo the later change first.", "field", names[0], "other", names[1], "whom", by)
	case len(names) == 2:
		return lang.T(ctx, "The {field} and {other} were changed since. Undo the later change first.", "field", names[0], "other", names[1])
	case by != "":
		return lang.T(ctx, "It was changed since by {whom}. Undo the later change first.", "whom", by)
	}
	return lang.T(ctx, "It was changed since. Undo the later change first.")
}

func (a *activityPage) byWhom(by *inventory.ActorRef) string {
	ctx := a.ctx()
	switch {
	case by == nil || by.ID == "":
		return ""
	case by.ID == a.through.ConnectionID:
		return lang.T(ctx, "this app")
	case by.ID == a.through.TokenID:
		return lang.T(ctx, "this token")
	case by.Name == "":
		return lang.T(ctx, "somebody else")
	case slices.Contains([]string{"connection", "token", "addon"}, by.Type):
		return lang.T(ctx, "an app of {name}", "name", by.Name)
	}
	return by.Name
}

// inTheWay names what blocks the way back, by what had been done.
func inTheWay(ctx context.Context, action string) string {
	switch action {
	case "thing.create":
		return lang.T(ctx, "Other things are in it now; move them out first.")
	case "place.create":
		return lang.T(ctx, "There is something in the place now, or the place is gone.")
	case "thing.move":
		return lang.T(ctx, "Where it came from is gone or cannot take it any more, or the thing itself is gone.")
	}
	return lang.T(ctx, "What it was before no longer fits with what else has changed, or the thing is gone.")
}
