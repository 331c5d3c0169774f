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
	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/templates"
)

// Activity is what pages ask of the inventory's log; inventory.Service is one.
type Activity interface {
	Activity(ctx context.Context, p *home.Principal, through inventory.Through, page inventory.Paging) (inventory.Page[inventory.SeenEntry], error)
	SeenEntries(ctx context.Context, p *home.Principal, ids []string) (map[string]inventory.SeenEntry, error)
	UndoEntry(ctx context.Context, p *home.Principal, id string) (inventory.Undone, error)
	UndoThrough(ctx context.Context, p *home.Principal, through inventory.Through, since time.Time) (inventory.UndoResult, error)
}

const activityShown = 50

func activityPath(connectionID string) string {
	return connectionsPath + "/" + url.PathEscape(connectionID) + "/activity"
}

func tokenActivityPath(tokenID string) string {
	return connectionsPath + "/tokens/" + url.PathEscape(tokenID) + "/activity"
}

// activityPathOf is the page that a route is about: of a connection or of a personal token.
func activityPathOf(c echo.Context) string {
	if id := c.Param("token"); id != "" {
		return tokenActivityPath(id)
	}
	return activityPath(c.Param("connection"))
}

func purposeUndo(path, event string) string { return "undo " + path + " " + event }
func purposeUndoAll(path string) string     { return "undo everything " + path }

// activityPage is one request for the page of what a connection or personal token wrote.
type activityPage struct {
	*Handlers
	c         echo.Context
	path      string
	through   inventory.Through
	name      string
	app       *templates.AppView // nil for a token
	over      bool
	principal *home.Principal
}

// openActivity finds out who asks about what. What has ended keeps its page: its changes can be undone.
func (h *Handlers) openActivity(c echo.Context, session *account.Session) (*activityPage, error) {
	ctx := c.Request().Context()
	a := &activityPage{Handlers: h, c: c, path: activityPathOf(c)}
	find := a.findConnection
	if c.Param("token") != "" {
		find = a.findToken
	}
	err := find(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	if a.principal, err = h.homes.PrincipalOfPerson(ctx, session.Person); err != nil {
		return nil, err
	}
	a.principal.IP, a.principal.RequestID = c.RealIP(), requestID(c)
	return a, nil
}

func (a *activityPage) findConnection(ctx context.Context, userID string) error {
	existing, err := a.connections.Get(ctx, userID, a.c.Param("connection"))
	if err != nil {
		return err
	}
	app := connectedApp(ctx, existing.Client)
	a.through.ConnectionID, a.app, a.name, a.over = existing.ID, &app, app.Name, !existing.Live(a.now())
	return nil
}

func (a *activityPage) findToken(ctx context.Context, userID string) error {
	tokens, err := a.accounts.Tokens(ctx, userID)
	if err != nil {
		return err
	}
	for i := range tokens {
		if t := &tokens[i]; t.ID == a.c.Param("token") {
			a.through.TokenID, a.name, a.over = t.ID, t.Name, t.EndedAt != nil
			return nil
		}
	}
	return account.ErrNotFound
}

// Activity lists what a connection or personal token wrote, the newest first.
func (h *Handlers) Activity(c echo.Context) error {
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
	return see(c, activityPathOf(c))
}

// UndoOne undoes one change, or that one and everything later.
func (h *Handlers) UndoOne(c echo.Context) error {
	event := c.Param("event")
	return h.undo(c, purposeUndo(activityPathOf(c), event), func(a *activityPage, form url.Values) error {
		if form.Get("what") == "later" {
			since, err := time.Parse(time.RFC3339, form.Get("since"))
			if err != nil {
				return a.show(http.StatusUnprocessableEntity, say(c, "Load the page again and choose from where to undo."), nil)
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
		return see(c, a.path+"?done=undone")
	})
}

// UndoEverything undoes all that a connection did since a time.
func (h *Handlers) UndoEverything(c echo.Context) error {
	return h.undo(c, purposeUndoAll(activityPathOf(c)), func(a *activityPage, form url.Values) error {
		for _, choice := range sinceChoices {
			if choice.value == form.Get("since") {
				return a.undoSince(h.now().Add(-choice.back))
			}
		}
		return a.show(http.StatusUnprocessableEntity, say(c, "Choose how far back to undo."), nil)
	})
}

// undo carries out a form of the page: a signed-in person, our own form, their own connection or token.
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
	result, err := a.activity.UndoThrough(ctx, a.principal, a.through, since)
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
	before := ""
	if a.c.Request().Method != http.MethodPost {
		before = a.c.QueryParam("before")
	}
	page, err := a.activity.Activity(a.c.Request().Context(), a.principal, a.through, inventory.Paging{After: before, Limit: activityShown})
	var broken *inventory.Error
	if errors.As(err, &broken) && before != "" {
		return &seeOther{a.path}
	}
	if err != nil {
		return err
	}
	view := templates.ActivityView{
		Shell: a.shell(a.c, say(a.c, "What {app} did", "app", a.name), templates.NavConnections), App: a.app, Ended: a.over,
		Problem: problem, Result: result,
	}
	for _, e := range page.Items {
		view.Entries = append(view.Entries, a.entryView(e))
	}
	if before != "" {
		view.Newer = templ.SafeURL(a.path)
	}
	if page.More {
		view.Older = templ.SafeURL(a.path + "?before=" + url.QueryEscape(page.Positions[len(page.Positions)-1]))
	}
	if a.anyUndoable(page.Items) {
		view.All = &templates.UndoAllView{Action: templ.SafeURL(a.path + "/undo"), Token: visitOf(a.c).formToken(purposeUndoAll(a.path)), Choices: sinceViews(a.ctx())}
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

// ended are the connections and tokens whose changes can be undone though they are over.
func (h *Handlers) ended(ctx context.Context, userID string) ([]templates.EndedView, error) {
	since := h.now().Add(-activity.UndoFor)
	list, err := h.connections.EndedSince(ctx, userID, since)
	if err != nil {
		return nil, err
	}
	var out []templates.EndedView
	for i := range list {
		out = append(out, templates.EndedView{
			Name: connectedApp(ctx, list[i].Client).Name, Ended: h.timeView(ctx, list[i].Over()), Activity: templ.SafeURL(activityPath(list[i].ID)),
		})
	}
	tokens, err := h.accounts.Tokens(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		if t.EndedAt != nil && !t.EndedAt.Before(since) {
			out = append(out, templates.EndedView{Name: t.Name, Ended: h.timeView(ctx, *t.EndedAt), Activity: templ.SafeURL(tokenActivityPath(t.ID))})
		}
	}
	return out, nil
}
