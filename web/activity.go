package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/activity"
	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/templates"
)

// Activity is what pages ask of the inventory's log; inventory.Service is one.
type Activity interface {
	ConnectionActivity(ctx context.Context, p *home.Principal, connectionID string, page inventory.Paging) (inventory.Page[inventory.SeenEntry], error)
	SeenEntries(ctx context.Context, p *home.Principal, ids []string) (map[string]inventory.SeenEntry, error)
	UndoEntry(ctx context.Context, p *home.Principal, id string) (inventory.Undone, error)
	UndoConnection(ctx context.Context, p *home.Principal, connectionID string, since time.Time) (inventory.UndoResult, error)
}

const activityShown = 50

func activityPath(connectionID string) string {
	return connectionsPath + "/" + url.PathEscape(connectionID) + "/activity"
}

func purposeUndo(connectionID, event string) string { return "undo " + connectionID + " " + event }
func purposeUndoAll(connectionID string) string     { return "undo everything " + connectionID }

// activityPage is one request for the page of what a connection wrote.
type activityPage struct {
	*Handlers
	c         echo.Context
	existing  *connection.Connection
	principal *home.Principal
}

// openActivity finds out who asks about which connection. One that has ended keeps its page: what it did can be undone.
func (h *Handlers) openActivity(c echo.Context, session *account.Session) (*activityPage, error) {
	ctx := c.Request().Context()
	existing, err := h.connections.Get(ctx, session.UserID, c.Param("connection"))
	if err != nil {
		return nil, err
	}
	p, err := h.homes.PrincipalOfPerson(ctx, session.Person)
	if err != nil {
		return nil, err
	}
	p.IP, p.RequestID = c.RealIP(), requestID(c)
	return &activityPage{Handlers: h, c: c, existing: existing, principal: p}, nil
}

// ConnectionActivity lists what a connection wrote, the newest first.
func (h *Handlers) ConnectionActivity(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	a, err := h.openActivity(c, session)
	if err != nil {
		return err
	}
	return a.show(http.StatusOK, "", nil)
}

// SeeActivity answers a reload of an undo's address.
func (h *Handlers) SeeActivity(c echo.Context) error {
	return see(c, activityPath(c.Param("connection")))
}

// UndoOne undoes one change, or that one and everything later.
func (h *Handlers) UndoOne(c echo.Context) error {
	id, event := c.Param("connection"), c.Param("event")
	return h.undo(c, purposeUndo(id, event), func(a *activityPage, form url.Values) error {
		if form.Get("what") == "later" {
			since, err := time.Parse(time.RFC3339, form.Get("since"))
			if err != nil {
				return a.show(http.StatusUnprocessableEntity, "Load the page again and choose from where to undo.", nil)
			}
			return a.undoSince(since)
		}
		_, err := h.activity.UndoEntry(c.Request().Context(), a.principal, event)
		var refusal *inventory.Error
		if errors.As(err, &refusal) {
			return a.showRefusal(event, refusal)
		}
		if err != nil {
			return err
		}
		return see(c, activityPath(id)+"?done=undone")
	})
}

// UndoEverything undoes all that a connection did since a time.
func (h *Handlers) UndoEverything(c echo.Context) error {
	return h.undo(c, purposeUndoAll(c.Param("connection")), func(a *activityPage, form url.Values) error {
		for _, choice := range sinceChoices {
			if choice.value == form.Get("since") {
				return a.undoSince(h.now().Add(-choice.back))
			}
		}
		return a.show(http.StatusUnprocessableEntity, "Choose how far back to undo.", nil)
	})
}

// undo carries out a form of the page: a signed-in person, our own form, their own connection.
func (h *Handlers) undo(c echo.Context, purpose string, do func(*activityPage, url.Values) error) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	form, err := h.readPost(c, purpose)
	if err != nil {
		return err
	}
	a, err := h.openActivity(c, session)
	if err != nil {
		return err
	}
	return do(a, form)
}

func (a *activityPage) undoSince(since time.Time) error {
	ctx := a.c.Request().Context()
	result, err := a.activity.UndoConnection(ctx, a.principal, a.existing.ID, since)
	if err != nil {
		return err
	}
	var ids []string
	for _, r := range result.Refused {
		ids = append(ids, r.EventID)
	}
	seen, err := a.activity.SeenEntries(ctx, a.principal, ids)
	if err != nil {
		return err
	}
	return a.show(http.StatusOK, "", a.undoResultView(result, seen))
}

// showRefusal shows the page with the reason why one change was not undone.
func (a *activityPage) showRefusal(event string, refusal *inventory.Error) error {
	seen, err := a.activity.SeenEntries(a.c.Request().Context(), a.principal, []string{event})
	if err != nil {
		return err
	}
	switch refusal.Code {
	case inventory.CodeUndoRefused:
		return a.show(http.StatusConflict, a.notUndone(refusal.Refusals[0], seen), nil)
	case inventory.CodeForbidden:
		return a.show(http.StatusForbidden, a.notUndone(inventory.UndoRefusal{EventID: event, Reason: inventory.ReasonForbidden}, seen), nil)
	case inventory.CodeNotFound:
		return a.show(http.StatusNotFound, a.notUndone(inventory.UndoRefusal{EventID: event, Reason: inventory.ReasonNotFound}, seen), nil)
	}
	return refusal
}

// show shows a page of changes. An undo leads back to the newest.
func (a *activityPage) show(status int, problem string, result *templates.UndoResultView) error {
	app := connectedApp(a.existing.Client)
	before := ""
	if a.c.Request().Method != http.MethodPost {
		before = a.c.QueryParam("before")
	}
	page, err := a.activity.ConnectionActivity(a.c.Request().Context(), a.principal, a.existing.ID, inventory.Paging{After: before, Limit: activityShown})
	var broken *inventory.Error
	if errors.As(err, &broken) && before != "" {
		return &seeOther{activityPath(a.existing.ID)}
	}
	if err != nil {
		return err
	}
	view := templates.ActivityView{
		Shell: a.shell(a.c, "What "+app.Name+" did", templates.NavConnections), App: app, Ended: !a.existing.Live(a.now()),
		Problem: problem, Result: result,
	}
	for _, e := range page.Items {
		view.Entries = append(view.Entries, a.entryView(e))
	}
	path := activityPath(a.existing.ID)
	if before != "" {
		view.Newer = templ.SafeURL(path)
	}
	if page.More {
		view.Older = templ.SafeURL(path + "?before=" + url.QueryEscape(page.Positions[len(page.Positions)-1]))
	}
	if a.anyUndoable(page.Items) {
		view.All = &templates.UndoAllView{Action: templ.SafeURL(path + "/undo"), Token: visitOf(a.c).formToken(purposeUndoAll(a.existing.ID)), Choices: sinceViews()}
	}
	return render(a.c, status, templates.Activity(view))
}

func (a *activityPage) anyUndoable(list []inventory.SeenEntry) bool {
	for _, e := range list {
		if e.UndoUntil != nil && e.MayUndo {
			return true
		}
	}
	return false
}

// endedConnections are the connections whose changes can be undone though they are over.
func (h *Handlers) endedConnections(ctx context.Context, userID string) ([]templates.EndedConnectionView, error) {
	list, err := h.connections.EndedSince(ctx, userID, h.now().Add(-activity.UndoFor))
	if err != nil {
		return nil, err
	}
	var out []templates.EndedConnectionView
	for i := range list {
		out = append(out, templates.EndedConnectionView{
			App: connectedApp(list[i].Client), Ended: h.timeView(list[i].Over()), Activity: templ.SafeURL(activityPath(list[i].ID)),
		})
	}
	return out, nil
}
