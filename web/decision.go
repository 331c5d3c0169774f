package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/connection"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// decision is the consent form, read once.
type decision struct {
	answer    string
	scopes    []string
	locations []string
	expires   string
	tools     toolForm
}

func parseDecision(form url.Values) decision {
	return decision{answer: form.Get("decision"), scopes: form["scope"], locations: form["location"], expires: form.Get("expires"), tools: parseTools(form)}
}

// expiries are the ends a person can choose, by the form's value. The first is the default.
var expiries = []struct {
	value, title string
	life         time.Duration
}{
	{"forever", lang.Text("Until I end it"), 0},
	{"30d", lang.Text("30 days"), 30 * 24 * time.Hour},
	{"1d", lang.Text("1 day"), 24 * time.Hour},
}

// keepExpiry leaves the end as it is.
const keepExpiry = "keep"

func isExpiry(value string) bool {
	if value == keepExpiry {
		return true
	}
	for _, e := range expiries {
		if e.value == value {
			return true
		}
	}
	return false
}

// expiresAt is the moment that a choice means; nil for no end.
func (h *Handlers) expiresAt(value string) *time.Time {
	for _, e := range expiries {
		if e.value == value && e.life > 0 {
			at := h.now().UTC().Add(e.life)
			return &at
		}
	}
	return nil
}

// chosenEnd is expiresAt where an end that a connection has can be kept.
func (h *Handlers) chosenEnd(value string, existing *connection.Connection) *time.Time {
	if value == keepExpiry && existing != nil {
		return existing.ExpiresAt
	}
	return h.expiresAt(value)
}

// errAskAgain says that the form lacked something and was shown again with the reason.
var errAskAgain = errors.New("web: asked again")

// decide carries a decision out. What is missing in the form of somebody who allows is asked for again, with their ticks.
func (h *Handlers) decide(c echo.Context, id string, d decision) (*oauth.AuthorizationResponse, error) {
	ctx := c.Request().Context()
	owner, err := h.owner(c)
	if err != nil {
		return nil, err
	}
	if d.answer == "deny" {
		return h.oauth.Decide(ctx, id, owner, oauth.Decision{})
	}
	prompt, err := h.resume(c, id)
	if err != nil {
		return nil, err
	}
	switch prompt.Next {
	case oauth.NextDecided:
		return nil, oauth.ErrUsed
	case oauth.NextSignIn:
		return nil, &seeOther{signInPath(id)}
	}
	existing, err := h.existing(c, prompt)
	if err != nil {
		return nil, err
	}
	approved, problem, err := h.checkDecision(c, prompt, existing, d)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		return nil, h.askAgain(c, prompt, d, problem)
	}
	answer, err := h.oauth.Decide(ctx, id, owner, oauth.Decision{
		Allow: true, Scopes: d.scopes, Terms: approved.terms, Details: approved.details, ExpiresAt: h.chosenEnd(d.expires, existing),
	})
	if errors.Is(err, oauth.ErrNoScope) {
		return nil, h.askAgain(c, prompt, d, say(c, noScope))
	}
	return answer, err
}

const (
	noDecision = "Press Allow or Deny."
	noScope    = "Tick at least one thing that the app may do, or press Deny."
	noLocation = "Tick at least one location, or press Deny."
	noExpiry   = "Choose for how long."
	noTool     = "Tick at least one tool, or press Deny."
)

// approved is the product's part of an approval.
type approved struct{ terms, details json.RawMessage }

// existing is the connection that an approval would change, or nil.
func (h *Handlers) existing(c echo.Context, prompt *oauth.Prompt) (*connection.Connection, error) {
	return h.connections.Existing(c.Request().Context(), visitOf(c).userID(), prompt.Client.ID, prompt.Resource.URI)
}

// checkDecision makes the approval's terms and details, or says in words what is missing.
func (h *Handlers) checkDecision(c echo.Context, prompt *oauth.Prompt, existing *connection.Connection, d decision) (a approved, problem string, err error) {
	switch {
	case d.answer != "allow":
		return a, say(c, noDecision), nil
	case len(d.scopes) == 0:
		return a, say(c, noScope), nil
	case d.expires != "" && !isExpiry(d.expires):
		return a, say(c, noExpiry), nil
	}
	t := connection.Terms{}
	// What only tells who somebody is acts nowhere.
	if h.located(prompt.Resource.URI) && slices.ContainsFunc(d.scopes, func(s string) bool { return !prompt.Resource.IsIdentity(s) }) {
		if len(d.locations) == 0 {
			return a, say(c, noLocation), nil
		}
		t.Locations = d.locations
		if prompt.GrantAction == oauth.GrantMerge && existing != nil {
			t.Locations = append(locationIDs(existing), t.Locations...)
		}
		var invalid *connection.Invalid
		if err := h.connections.CheckLocations(c.Request().Context(), visitOf(c).userID(), t.Locations); errors.As(err, &invalid) {
			return a, invalidWords(c.Request().Context(), invalid), nil
		} else if err != nil {
			return a, "", err
		}
	}
	choice, err := h.consentTools(prompt, existing)
	if err != nil {
		return a, "", err
	}
	var invalid *connection.Invalid
	if t.HiddenTools, a.details, err = h.approvedTools(prompt, choice, d.tools); errors.As(err, &invalid) {
		return a, say(c, noTool), nil
	} else if err != nil {
		return a, "", err
	}
	a.terms, err = t.Encode()
	return a, "", err
}

func locationIDs(c *connection.Connection) []string {
	var ids []string
	for _, l := range c.Locations {
		ids = append(ids, l.ID)
	}
	return ids
}

// askAgain shows the consent page once more with the person's own ticks.
func (h *Handlers) askAgain(c echo.Context, prompt *oauth.Prompt, d decision, problem string) error {
	view, err := h.consentView(c, prompt, visitOf(c).session.Person)
	if err != nil {
		return err
	}
	view.Problem = problem
	retick(view.Scopes, d.scopes)
	retick(view.Locations, d.locations)
	if d.tools.shown {
		retick(view.Tools, d.tools.ticked)
	}
	view.ToolsOpen = view.ToolsOpen || problem == noTool
	if isExpiry(d.expires) {
		retick(view.Expiries, []string{d.expires})
	}
	if err := render(c, http.StatusUnprocessableEntity, templates.Consent(*view)); err != nil {
		return err
	}
	return errAskAgain
}

func retick(choices []templates.ChoiceView, ticked []string) {
	for i := range choices {
		choices[i].Ticked = slices.Contains(ticked, choices[i].Value)
	}
}

// showDenied shows where a denial would go instead of going there: nobody vouches for the target (OAuth 2.1 §7.13.2).
func (h *Handlers) showDenied(c echo.Context, answer *oauth.AuthorizationResponse) error {
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return render(c, http.StatusOK, templates.Leave(templates.LeaveView{
		Shell: h.shell(c, say(c, "You denied this"), ""), Host: answer.Host, URL: templ.SafeURL(answer.RedirectURI), Denied: true,
	}))
}
