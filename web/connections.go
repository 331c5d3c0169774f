package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const connectionsPath = "/settings/connections"

func purposeDisconnect(id string) string      { return "disconnect " + id }
func purposeEndInstallation(id string) string { return "end installation " + id }

// Connections lists what is connected, and the personal tokens.
func (h *Handlers) Connections(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	return h.showConnections(c, http.StatusOK, session, newTokenForm{scope: account.TokenRead, expires: "30d"}, "")
}

// SeeConnections answers a reload of an action's address.
func (h *Handlers) SeeConnections(c echo.Context) error { return see(c, connectionsPath) }

func (h *Handlers) showConnections(c echo.Context, status int, session *account.Session, form newTokenForm, problem string) error {
	ctx, v := c.Request().Context(), visitOf(c)
	list, err := h.connections.List(ctx, session.UserID)
	if err != nil {
		return err
	}
	view := templates.ConnectionsView{Shell: h.shell(c, say(c, "Connections"), templates.NavConnections)}
	for i := range list {
		card := h.connectionView(ctx, v, &list[i])
		card.Tools, card.Limits = h.toolSummary(ctx, &list[i])
		view.Connections = append(view.Connections, card)
	}
	if view.Ended, err = h.ended(ctx, session.UserID); err != nil {
		return err
	}
	if err := h.addTokens(ctx, v, session.UserID, &view, form); err != nil {
		return err
	}
	view.NewToken.Problem = problem
	return render(c, status, templates.Connections(view))
}

func (h *Handlers) connectionView(ctx context.Context, v *visit, c *connection.Connection) templates.ConnectionView {
	path := connectionsPath + "/" + url.PathEscape(c.ID)
	view := templates.ConnectionView{
		ID: c.ID, App: connectedApp(ctx, c.Client), Resource: h.nameOfResource(c.Resource), Scopes: shortScopes(ctx, c.Scopes),
		Locations: locationNames(c.Locations), Created: h.timeView(ctx, c.CreatedAt), Expires: h.timeViewOf(ctx, c.ExpiresAt),
		Located: h.located(c.Resource), Edit: templ.SafeURL(path), Activity: templ.SafeURL(activityPath(c.ID)), EndAction: templ.SafeURL(path + "/disconnect"),
		EndToken: v.formToken(purposeDisconnect(c.ID)),
	}
	if c.LastUsed != nil {
		view.LastUsed = h.timeViewOf(ctx, &c.LastUsed.At)
		view.LastUse = useWords(ctx, c.LastUsed)
	}
	for _, i := range c.Installations {
		if i.EndedAt == nil {
			view.Installations = append(view.Installations, h.installationView(ctx, v, path, i))
		} else if i.EndedReason == oauth.EndedByReuse && h.now().Sub(*i.EndedAt) < tellOfReuse {
			view.Reused = append(view.Reused, templates.ReuseView{Device: deviceOf(ctx, i), At: h.timeView(ctx, *i.EndedAt)})
		}
	}
	return view
}

// tellOfReuse is for how long the page tells of an installation that ended because an old token of it was used.
const tellOfReuse = 30 * 24 * time.Hour

func deviceOf(ctx context.Context, i connection.Installation) string {
	if i.DeviceHint == "" {
		return lang.T(ctx, "Unknown program")
	}
	return deviceWords(ctx, i.DeviceHint)
}

func (h *Handlers) installationView(ctx context.Context, v *visit, path string, i connection.Installation) templates.InstallationView {
	view := templates.InstallationView{
		Device: deviceOf(ctx, i), FirstSeen: h.timeView(ctx, i.FirstSeenAt),
		EndAction: templ.SafeURL(path + "/installations/" + url.PathEscape(i.ID) + "/end"), EndToken: v.formToken(purposeEndInstallation(i.ID)),
	}
	if i.LastUsed != nil {
		view.LastUsed, view.LastUse = h.timeViewOf(ctx, &i.LastUsed.At), useWords(ctx, i.LastUsed)
	}
	return view
}

// useWords says from where and for what the last use was.
func useWords(ctx context.Context, u *connection.Use) string {
	switch {
	case u.Tool != "" && u.IP != "":
		return lang.T(ctx, "for {tool} from {address}", "tool", u.Tool, "address", u.IP)
	case u.Tool != "":
		return lang.T(ctx, "for {tool}", "tool", u.Tool)
	case u.IP != "":
		return lang.T(ctx, "from {address}", "address", u.IP)
	}
	return ""
}

func connectedApp(ctx context.Context, client connection.Client) templates.AppView {
	return templates.AppView{Name: clientName(ctx, client.Name, client.ID), Host: client.Host, Trusted: client.Kind == "registered"}
}

func (h *Handlers) nameOfResource(uri string) string {
	for i, r := range h.oauth.Resources() {
		if r.URI == uri {
			return resourceName(&h.oauth.Resources()[i])
		}
	}
	return uri
}

// Disconnect ends a connection.
func (h *Handlers) Disconnect(c echo.Context) error {
	id := c.Param("connection")
	return h.act(c, purposeDisconnect(id), connectionsPath+"?done=disconnected", func(ctx context.Context, s *account.Session) error {
		if err := h.connections.Disconnect(ctx, s.UserID, id); err != nil {
			return err
		}
		h.record(c, audit.Entry{Action: audit.ConnectionEnded, PersonID: s.UserID, ConnectionID: id})
		return nil
	})
}

// EndInstallation ends one installation of a connected app.
func (h *Handlers) EndInstallation(c echo.Context) error {
	id := c.Param("installation")
	return h.act(c, purposeEndInstallation(id), connectionsPath+"?done=ended", func(ctx context.Context, s *account.Session) error {
		return h.connections.EndInstallation(ctx, s.UserID, id)
	})
}

// act carries out a button: a signed-in person, our own form, one call, and on to a page.
func (h *Handlers) act(c echo.Context, purpose, next string, do func(context.Context, *account.Session) error) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	if _, err := h.readPost(c, purpose); err != nil {
		return err
	}
	if err := do(c.Request().Context(), session); err != nil {
		return err
	}
	return see(c, next)
}
