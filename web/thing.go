package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/inventory"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// Thing shows one thing, by its id or short code: tools name this address. A thing of other people looks as one that
// does not exist, and so does what could not be an id or a code.
func (h *Handlers) Thing(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	p, err := h.homes.PrincipalOfPerson(ctx, session.Person)
	if err != nil {
		return err
	}
	t, err := h.things.GetThing(ctx, p, inventory.At{}, c.Param("thing"))
	var refused *inventory.Error
	if errors.As(err, &refused) {
		return notFoundPage()
	}
	if err != nil {
		return err
	}
	location := ""
	if a := p.At(t.LocationID); a != nil {
		location = a.Name
	}
	return render(c, http.StatusOK, templates.Thing(h.thingView(ctx, h.shell(c, t.Name, ""), location, &t)))
}

func (h *Handlers) thingView(ctx context.Context, shell templates.ShellView, location string, t *inventory.ThingDetail) templates.ThingView {
	view := templates.ThingView{
		Shell: shell, Code: inventory.FormatCode(t.ShortCode), Aliases: t.Aliases, States: stateWords(ctx, t), Notes: t.Notes,
		Facts: h.thingFacts(ctx, location, t),
	}
	for _, tag := range t.Tags {
		view.Tags = append(view.Tags, tag.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(t.Custom)) {
		if text := customWords(ctx, t.Custom[key]); text != "" {
			view.Custom = append(view.Custom, templates.FactView{Label: sentence(key), Text: text})
		}
	}
	return view
}

// thingFacts are the lines of what is known. What is empty, or may not be seen, has none.
func (h *Handlers) thingFacts(ctx context.Context, location string, t *inventory.ThingDetail) []templates.FactView {
	facts := []templates.FactView{{Label: lang.T(ctx, "Where"), Text: strings.Join(append([]string{location}, t.Path...), " › ")}}
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, templates.FactView{Label: label, Text: text})
		}
	}
	add(lang.T(ctx, "Quantity"), quantityWords(ctx, t))
	add(lang.T(ctx, "Type"), nameOf(t.Type))
	add(lang.T(ctx, "Brand"), nameOf(t.Brand))
	add(lang.T(ctx, "Model"), t.Model)
	add(lang.T(ctx, "Serial number"), t.Serial)
	add(lang.T(ctx, "Condition"), lang.T(ctx, conditions[t.Condition]))
	add(lang.T(ctx, "Value"), moneyWords(t.Value))
	if b := t.Purchase; b != nil {
		add(lang.T(ctx, "Bought"), dateWords(ctx, b.PurchasedOn))
		add(lang.T(ctx, "Bought from"), b.Seller)
		add(lang.T(ctx, "Price"), moneyWords(b.Price))
		add(lang.T(ctx, "Reference"), b.Reference)
	}
	add(lang.T(ctx, "Owned since"), dateWords(ctx, t.AcquiredOn))
	if seen := h.timeViewOf(ctx, t.LastSeenAt); seen != nil {
		facts = append(facts, templates.FactView{Label: lang.T(ctx, "Last seen"), At: seen})
	}
	made, changed := h.timeView(ctx, t.CreatedAt), h.timeView(ctx, t.UpdatedAt)
	return append(facts, templates.FactView{Label: lang.T(ctx, "Added"), At: &made}, templates.FactView{Label: lang.T(ctx, "Changed"), At: &changed})
}

// thingStates are lifecycles and states in words. A thing in use is the ordinary case and needs none, and "ended" only
// repeats what the lifecycle says.
var thingStates = map[string]string{
	inventory.LifecycleInUse: "", inventory.StateEnded: "",
	"disposed": lang.Text("Disposed of"), "returned_to_owner": lang.Text("Returned to its owner"), "sold": lang.Text("Sold"),
	"lost": lang.Text("Lost"), "stolen": lang.Text("Stolen"), "destroyed": lang.Text("Destroyed"), "given_away": lang.Text("Given away"),
	inventory.StateUncertain: lang.Text("Place not certain"), inventory.StateLowStock: lang.Text("Running low"),
	inventory.StateLent: lang.Text("Lent"), inventory.StateBorrowed: lang.Text("Borrowed"), inventory.StateInRepair: lang.Text("In repair"),
}

// conditions are the words for a thing's condition.
var conditions = map[string]string{
	"new": lang.Text("New"), "good": lang.Text("Good"), "fair": lang.Text("Fair"), "poor": lang.Text("Poor"), "broken": lang.Text("Broken"),
}

func stateWords(ctx context.Context, t *inventory.ThingDetail) []string {
	var out []string
	for _, state := range append([]string{t.Lifecycle}, t.States...) {
		text, known := thingStates[state]
		if !known {
			text = sentence(state)
		}
		if text != "" {
			out = append(out, lang.T(ctx, text))
		}
	}
	return out
}

func quantityWords(ctx context.Context, t *inventory.ThingDetail) string {
	if t.Minimum != nil {
		return lang.T(ctx, "{n}, running low at {minimum}", "n", t.Quantity, "minimum", *t.Minimum)
	}
	return strconv.Itoa(t.Quantity)
}

func nameOf(n *inventory.Named) string {
	if n == nil {
		return ""
	}
	return n.Name
}

func moneyWords(m *inventory.Money) string {
	if m == nil {
		return ""
	}
	return m.Amount() + " " + m.Currency
}

// dateWords puts YYYY-MM-DD into words; what is none stays as it is.
func dateWords(ctx context.Context, date string) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return lang.Date(ctx, t)
}

// sentence makes a word of a program's vocabulary readable: shoe_size becomes Shoe size.
func sentence(word string) string {
	if word == "" {
		return ""
	}
	word = strings.ReplaceAll(word, "_", " ")
	return strings.ToUpper(word[:1]) + word[1:]
}

// customWords puts the value of a custom field into words.
func customWords(ctx context.Context, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return lang.T(ctx, "Yes")
		}
		return lang.T(ctx, "No")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(value)
}
