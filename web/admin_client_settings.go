package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// ClientSettings is what administrators decide about single clients; connection.ClientSettings is one.
type ClientSettings interface {
	Get(ctx context.Context, id string) (*oauth.Client, error)
	Save(ctx context.Context, id string, s oauth.ClientSettings) error
	Approve(ctx context.Context, id string, since time.Time) error
	Refuse(ctx context.Context, id string) error
	Waiting(ctx context.Context) ([]*oauth.Client, error)
}

const clientSettingsPath = adminClientsPath + "/settings"

func clientSettingsOf(id string) string {
	return clientSettingsPath + "?" + url.Values{"id": {id}}.Encode()
}

// addClientSettings adds to the page of a client what an administrator decided about it, and can decide.
func (h *Handlers) addClientSettings(ctx context.Context, v *visit, view *templates.AdminDetailView, id string) error {
	client, err := h.settings.Get(ctx, id)
	if err != nil {
		return err
	}
	s := client.Settings
	if s.RequirePushed {
		view.Facts = fact(view.Facts, lang.T(ctx, "Your rule"), lang.T(ctx, "Requests must be pushed (PAR)"))
	}
	if s.KeepOnStale {
		view.Facts = fact(view.Facts, lang.T(ctx, "Your rule"), lang.T(ctx, "An old refresh token is refused and ends nothing"))
	}
	if s.PerMinute > 0 {
		view.Facts = fact(view.Facts, lang.T(ctx, "Your rule"), lang.N(ctx, s.PerMinute, "1 request a minute", "{n} requests a minute"))
	}
	view.Links = append(view.Links, templates.LinkView{Path: templ.SafeURL(clientSettingsOf(id)), Label: lang.T(ctx, "Rules for this app")})
	if client.PendingAt == nil {
		return nil
	}
	view.Badges = append(view.Badges, templates.BadgeView{Text: lang.T(ctx, "Waits for approval"), Tone: "bad"})
	view.Actions = append(waitingActions(ctx, v, client), view.Actions...)
	return nil
}

func waitingActions(ctx context.Context, v *visit, client *oauth.Client) []templates.AdminActionView {
	name := clientName(ctx, client.Name, client.ID)
	return []templates.AdminActionView{
		{ID: "approve", Title: lang.T(ctx, "Approve"), Text: lang.T(ctx, "Lets people connect the app. Each of them still decides what it may do."),
			Button: button(v, approvePath(client), purposeClient("approve", client.ID), lang.T(ctx, "Approve"), name)},
		{ID: "refuse", Title: lang.T(ctx, "Refuse"), Text: lang.T(ctx, "Blocks the app for everybody. Unblocking it later lets it in."),
			Button: dangerButton(v, clientActionPath("refuse", client.ID), purposeClient("refuse", client.ID), lang.T(ctx, "Refuse"), name)},
	}
}

// approvePath names what is approved by the time since when the client waits: it waits anew with every change.
func approvePath(client *oauth.Client) string {
	return clientActionPath("approve", client.ID) + "&since=" + strconv.FormatInt(client.PendingAt.UnixMilli(), 10)
}

// ApproveClient lets a client in that registered itself and waits, as the administrator saw it.
func (h *Handlers) ApproveClient(c echo.Context) error {
	since, err := strconv.ParseInt(c.QueryParam("since"), 10, 64)
	if err != nil {
		return see(c, clientPath(c.QueryParam("id")))
	}
	return h.decideClient(c, "approve", audit.ClientApproved, "approved", func(ctx context.Context, id string) error {
		return h.settings.Approve(ctx, id, time.UnixMilli(since).UTC())
	})
}

// RefuseClient blocks a client that waits.
func (h *Handlers) RefuseClient(c echo.Context) error {
	return h.decideClient(c, "refuse", audit.ClientRefused, "refused", h.settings.Refuse)
}

func (h *Handlers) decideClient(c echo.Context, action, entry, done string, do func(context.Context, string) error) error {
	id := c.QueryParam("id")
	if _, _, err := h.readAdminPost(c, purposeClient(action, id), clientPath(id)); err != nil {
		return err
	}
	ctx := c.Request().Context()
	client, err := h.settings.Get(ctx, id)
	if err != nil {
		return err
	}
	if err := do(ctx, id); errors.Is(err, connection.ErrNotFound) {
		return see(c, clientPath(id)) // somebody decided before, or it has changed
	} else if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: entry, ClientID: id, Detail: map[string]string{"name": client.Name}})
	return see(c, withDone(clientPath(id), done))
}

// ClientSettingsForm shows the rules for one client.
func (h *Handlers) ClientSettingsForm(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	client, err := h.settings.Get(c.Request().Context(), c.QueryParam("id"))
	if err != nil {
		return err
	}
	limit := ""
	if client.Settings.PerMinute > 0 {
		limit = strconv.Itoa(client.Settings.PerMinute)
	}
	return h.showClientSettings(c, http.StatusOK, client, client.Settings, limit, "")
}

func (h *Handlers) showClientSettings(c echo.Context, status int, client *oauth.Client, s oauth.ClientSettings, limit, problem string) error {
	ctx := c.Request().Context()
	name := clientName(ctx, client.Name, client.ID)
	return render(c, status, templates.AdminForm(templates.AdminFormView{
		Admin: h.adminShell(c, lang.T(ctx, "Rules for {app}", "app", name), adminClientsPath),
		Back:  templates.LinkView{Path: templ.SafeURL(clientPath(client.ID)), Label: name}, Problem: problem,
		Lead:   lang.T(ctx, "They hold from the app's next request, whatever it says about itself."),
		Action: templ.SafeURL(clientSettingsOf(client.ID)), Token: visitOf(c).formToken(purposeClient("settings", client.ID)), Submit: lang.T(ctx, "Save"),
		Groups: []templates.FieldGroupView{{Legend: lang.T(ctx, "Rules"), Fields: []templates.FieldView{
			{Name: "require_pushed", Tick: &templates.ChoiceView{Value: "yes", Title: lang.T(ctx, "It must push its authorization requests"), Detail: "PAR, RFC 9126", Ticked: s.RequirePushed}},
			{Name: "keep_on_stale", Tick: &templates.ChoiceView{Value: "yes", Title: lang.T(ctx, "An old refresh token ends nothing"),
				Detail: lang.T(ctx, "It is refused and noted in the log, but the installation stays signed in. For programs that share one stored token. A stolen token is then noticed later."), Ticked: s.KeepOnStale}},
			{Name: "per_minute", Label: lang.T(ctx, "Requests a minute"), Type: "text", Value: limit,
				Hint: lang.T(ctx, "Of a client that proves itself, all its people together; of another one, each network by itself. Empty: 6000.")},
		}}},
	}))
}

// SaveClientSettings saves the rules for one client.
func (h *Handlers) SaveClientSettings(c echo.Context) error {
	id := c.QueryParam("id")
	form, _, err := h.readAdminPost(c, purposeClient("settings", id), clientSettingsOf(id))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	client, err := h.settings.Get(ctx, id)
	if err != nil {
		return err
	}
	limit := strings.TrimSpace(form.Get("per_minute"))
	s := oauth.ClientSettings{KeepOnStale: form.Get("keep_on_stale") == "yes", RequirePushed: form.Get("require_pushed") == "yes"}
	valid := true
	if limit != "" {
		s.PerMinute, err = strconv.Atoi(limit)
		valid = err == nil && s.PerMinute > 0
	}
	var invalid *connection.Invalid
	if err = h.saveClientSettings(ctx, valid, id, s); errors.As(err, &invalid) {
		return h.showClientSettings(c, http.StatusUnprocessableEntity, client, s, limit, lang.T(ctx, badPerMinute))
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.ClientSettingsChanged, ClientID: id, Detail: map[string]string{"name": client.Name, "settings": settingsText(s)}})
	return see(c, withDone(clientPath(id), "changed"))
}

var badPerMinute = lang.Text("The limit must be a whole number between 1 and 1000000, or empty.")

func (h *Handlers) saveClientSettings(ctx context.Context, valid bool, id string, s oauth.ClientSettings) error {
	if !valid {
		return &connection.Invalid{Field: "per_minute", Message: badPerMinute}
	}
	return h.settings.Save(ctx, id, s)
}

// settingsText is how the audit record tells the switches.
func settingsText(s oauth.ClientSettings) string {
	text := []string{}
	if s.RequirePushed {
		text = append(text, "require_pushed")
	}
	if s.KeepOnStale {
		text = append(text, "keep_on_stale")
	}
	if s.PerMinute > 0 {
		text = append(text, "per_minute="+strconv.Itoa(s.PerMinute))
	}
	return orElse(strings.Join(text, ", "), "none")
}
