package web

import (
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
	return render(c, http.StatusOK, templates.Thing(h.thingView(h.shell(c, t.Name, ""), location, &t)))
}

func (h *Handlers) thingView(shell templates.ShellView, location string, t *inventory.ThingDetail) templates.ThingView {
	view := templates.ThingView{
		Shell: shell, Code: inventory.FormatCode(t.ShortCode), Aliases: t.Aliases, States: stateWords(t), Notes: t.Notes,
		Facts: h.thingFacts(location, t),
	}
	for _, tag := range t.Tags {
		view.Tags = append(view.Tags, tag.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(t.Custom)) {
		if text := customWords(t.Custom[key]); text != "" {
			view.Custom = append(view.Custom, templates.FactView{Label: sentence(key), Text: text})
		}
	}
	return view
}

// thingFacts are the lines of what is known. What is empty, or may not be seen, has none.
func (h *Handlers) thingFacts(location string, t *inventory.ThingDetail) []templates.FactView {
	facts := []templates.FactView{{Label: "Where", Text: strings.Join(append([]string{location}, t.Path...), " › ")}}
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, templates.FactView{Label: label, Text: text})
		}
	}
	add("Quantity", quantityWords(t))
	add("Type", nameOf(t.Type))
	add("Brand", nameOf(t.Brand))
	add("Model", t.Model)
	add("Serial number", t.Serial)
	add("Condition", sentence(t.Condition))
	add("Value", moneyWords(t.Value))
	if b := t.Purchase; b != nil {
		add("Bought", dateWords(b.PurchasedOn))
		add("Bought from", b.Seller)
		add("Price", moneyWords(b.Price))
		add("Reference", b.Reference)
	}
	add("Owned since", dateWords(t.AcquiredOn))
	if seen := h.timeViewOf(t.LastSeenAt); seen != nil {
		facts = append(facts, templates.FactView{Label: "Last seen", At: seen})
	}
	made, changed := h.timeView(t.CreatedAt), h.timeView(t.UpdatedAt)
	return append(facts, templates.FactView{Label: "Added", At: &made}, templates.FactView{Label: "Changed", At: &changed})
}

// thingStates are lifecycles and states in words. A thing in use is the ordinary case and needs none, and "ended" only
// repeats what the lifecycle says.
var thingStates = map[string]string{
	inventory.LifecycleInUse: "", inventory.StateEnded: "",
	"disposed": "Disposed of", "returned_to_owner": "Returned to its owner",
	inventory.StateUncertain: "Place not certain", inventory.StateLowStock: "Running low",
}

func stateWords(t *inventory.ThingDetail) []string {
	var out []string
	for _, state := range append([]string{t.Lifecycle}, t.States...) {
		text, known := thingStates[state]
		if !known {
			text = sentence(state)
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

func quantityWords(t *inventory.ThingDetail) string {
	text := strconv.Itoa(t.Quantity)
	if t.Minimum != nil {
		text += ", running low at " + strconv.Itoa(*t.Minimum)
	}
	return text
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
func dateWords(date string) string {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return date
	}
	return t.Format("2 January 2006")
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
func customWords(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "Yes"
		}
		return "No"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(value)
}
