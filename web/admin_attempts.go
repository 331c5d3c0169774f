package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const adminAttemptsPath = adminPath + "/attempts"

// AnyAttempt is an attempt to connect as administrators see it.
type AnyAttempt struct {
	Attempt
	// Person is their address, PersonID their id; empty while nobody is tied to it.
	Person, PersonID             string
	ClientID, ConnectionID       string
	Resource, Address, UserAgent string
	LastAt                       time.Time
	// Reason is why the latest step was refused.
	Reason string
}

// AttemptFilter says which attempts to list, the latest first. Empty fields do not narrow.
type AttemptFilter struct {
	PersonID, Client, Address string
	Failed                    bool
	Offset, Limit             int
}

// ErrNoAttempt says that an id finds no attempt.
var ErrNoAttempt = errors.New("web: there is no such attempt")

// AttemptsAdmin reads everybody's attempts.
type AttemptsAdmin interface {
	// FindAttempts lists attempts without their steps. more says that the list goes on behind the limit.
	FindAttempts(ctx context.Context, f AttemptFilter) (list []AnyAttempt, more bool, err error)
	// FindAttempt gives one attempt by its id or by the id on an error page; ErrNoAttempt when there is none.
	FindAttempt(ctx context.Context, id string) (*AnyAttempt, error)
}

func attemptPath(id string) string { return adminAttemptsPath + "/" + url.PathEscape(id) }

// AdminAttempts lists everybody's attempts. With an id it goes to that attempt.
func (h *Handlers) AdminAttempts(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx, page := c.Request().Context(), pageNumber(c)
	param := func(name string) string { return strings.TrimSpace(c.QueryParam(name)) }
	id, person, client, address, failed := param("id"), param("person"), param("client"), param("address"), param("failed")
	view := templates.AdminListView{
		Admin: h.adminShell(c, lang.T(ctx, "Attempts"), adminAttemptsPath), Path: adminAttemptsPath, Filtered: id+person+client+address+failed != "",
		Lead:  lang.T(ctx, "Every attempt of an app to connect in the last 14 days, step by step. The id on an error page finds the attempt."),
		Empty: lang.T(ctx, "No app has tried to connect yet."),
		Filters: []templates.FilterView{
			{Name: "id", Label: lang.T(ctx, "Id"), Value: id}, {Name: "person", Label: lang.T(ctx, "Person (e-mail)"), Value: person},
			{Name: "client", Label: lang.T(ctx, "Client (name or id)"), Value: client}, {Name: "address", Label: lang.T(ctx, "Address"), Value: address},
			{Name: "failed", Label: lang.T(ctx, "Failed only"), Tick: true, Ticked: failed == "1"},
		},
	}
	if id != "" {
		found, err := h.attempts.FindAttempt(ctx, id)
		if err == nil {
			return see(c, attemptPath(found.ID))
		}
		if !errors.Is(err, ErrNoAttempt) {
			return err
		}
		view.Problem = lang.T(ctx, "No attempt has this id. Attempts are kept for 14 days, and what repeats within a minute is recorded three times. The program's log has every id.")
		return render(c, http.StatusOK, templates.AdminList(view))
	}
	personID, err := h.personFilter(ctx, person)
	if errors.Is(err, errNoSuchPerson) {
		view.Problem = lang.T(ctx, "There is no person with this e-mail address.")
		return render(c, http.StatusOK, templates.AdminList(view))
	}
	if err != nil {
		return err
	}
	list, more, err := h.attempts.FindAttempts(ctx, AttemptFilter{PersonID: personID, Client: client, Address: address, Failed: failed == "1", Offset: offsetOf(page), Limit: adminListed})
	if err != nil {
		return err
	}
	view.Newer, view.Older = pageLinks(adminAttemptsPath, page, more, "person", person, "client", client, "address", address, "failed", failed)
	for i := range list {
		view.Rows = append(view.Rows, h.attemptRow(ctx, &list[i]))
	}
	return render(c, http.StatusOK, templates.AdminList(view))
}

func (h *Handlers) attemptRow(ctx context.Context, a *AnyAttempt) templates.AdminRowView {
	row := templates.AdminRowView{Title: orElse(a.App, lang.T(ctx, "An app")), Link: templ.SafeURL(attemptPath(a.ID)), Badges: attemptBadges(ctx, a)}
	row.Facts = fact(nil, lang.T(ctx, "Person"), a.Person)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Began"), &a.StartedAt)
	row.Facts = fact(row.Facts, lang.T(ctx, "From"), a.Address)
	row.Facts = fact(row.Facts, lang.T(ctx, "Refused because"), a.Reason)
	return row
}

func attemptBadges(ctx context.Context, a *AnyAttempt) []templates.BadgeView {
	switch {
	case a.Ended:
		return []templates.BadgeView{{Text: lang.T(ctx, "Ended")}}
	case a.Failed:
		return []templates.BadgeView{{Text: lang.T(ctx, "Did not work"), Tone: "bad"}}
	case a.Done:
		return []templates.BadgeView{{Text: lang.T(ctx, "Connected"), Tone: "good"}}
	}
	return []templates.BadgeView{{Text: lang.T(ctx, "Under way")}}
}

// AdminAttempt shows anybody's attempt step by step.
func (h *Handlers) AdminAttempt(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	a, err := h.attempts.FindAttempt(ctx, c.Param("attempt"))
	if errors.Is(err, ErrNoAttempt) {
		return notFoundPage()
	}
	if err != nil {
		return err
	}
	view := templates.AdminDetailView{
		Admin: h.adminShell(c, orElse(a.App, lang.T(ctx, "An app")), adminAttemptsPath), Back: back(ctx, adminAttemptsPath, "Attempts"),
		Badges: attemptBadges(ctx, a), Steps: h.attemptView(ctx, a.Attempt, true).Steps,
	}
	view.Facts = fact(nil, lang.T(ctx, "Id"), a.ID)
	view.Facts = fact(view.Facts, lang.T(ctx, "Person"), a.Person)
	view.Facts = fact(view.Facts, lang.T(ctx, "Client id"), a.ClientID)
	view.Facts = fact(view.Facts, lang.T(ctx, "Wants"), a.Resource)
	view.Facts = h.timeFact(ctx, view.Facts, lang.T(ctx, "Began"), &a.StartedAt)
	view.Facts = h.timeFact(ctx, view.Facts, lang.T(ctx, "Last step"), &a.LastAt)
	view.Facts = fact(view.Facts, lang.T(ctx, "From"), a.Address, a.UserAgent)
	if a.PersonID != "" {
		view.Links = append(view.Links, templates.LinkView{Path: templ.SafeURL(personPath(a.PersonID)), Label: lang.T(ctx, "Person")})
	}
	if a.ClientID != "" {
		view.Links = append(view.Links, templates.LinkView{Path: templ.SafeURL(clientPath(a.ClientID)), Label: lang.T(ctx, "Client")})
	}
	if a.ConnectionID != "" {
		view.Links = append(view.Links, templates.LinkView{Path: templ.SafeURL(adminConnectionPath(a.ConnectionID)), Label: lang.T(ctx, "Connection")})
	}
	return render(c, http.StatusOK, templates.AdminDetail(view))
}
