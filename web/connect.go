package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// watchSeconds is how often a watched page loads itself anew.
const watchSeconds = 5

// Connect tells how to connect an app and shows the person's attempts. Its script keeps them up to
// date; without JavaScript the browser's own refresh keeps the page up to date, when the person wants that.
func (h *Handlers) Connect(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	attempts, err := h.attempts.AttemptsOf(ctx, session.UserID)
	if err != nil {
		return err
	}
	view := templates.ConnectView{
		Shell: h.shell(c, say(c, "Connect an app"), templates.NavConnect), URL: h.mcpURL(), Unavailable: h.unavailable(ctx),
		LocalOnly: isLocal(h.url), Guides: guides(ctx, h.mcpURL()), Refresh: "/settings/connect", Watch: "/settings/connect?watch=1#attempts", Watching: c.QueryParam("watch") == "1",
	}
	if view.Watching {
		view.Shell.RefreshSeconds = watchSeconds
		view.Refresh, view.Watch = "/settings/connect?watch=1#attempts", "/settings/connect#attempts"
	}
	if !view.Watching {
		view.Live = livePath
		c.Response().Header().Set("Content-Security-Policy", pagePolicy+livePolicy)
	}
	view.Attempts = h.attemptViews(ctx, attempts)
	return render(c, http.StatusOK, templates.Connect(view))
}

func (h *Handlers) attemptViews(ctx context.Context, attempts []Attempt) []templates.AttemptView {
	var views []templates.AttemptView
	for i, a := range attempts {
		views = append(views, h.attemptView(ctx, a, i == 0))
	}
	return views
}

func (h *Handlers) attemptView(ctx context.Context, a Attempt, latest bool) templates.AttemptView {
	view := templates.AttemptView{ID: a.ID, App: a.App, Started: h.timeView(ctx, a.StartedAt), State: "going", Summary: lang.T(ctx, "Under way"), Open: latest || a.Failed}
	if view.App == "" {
		view.App = lang.T(ctx, "An app")
	}
	switch {
	case a.Ended:
		view.State, view.Summary = "ended", lang.T(ctx, "Ended")
	case a.Failed:
		view.State, view.Summary = "failed", lang.T(ctx, "Did not work")
	case a.Done:
		view.State, view.Summary = "done", lang.T(ctx, "Connected")
	}
	for _, s := range a.Steps {
		view.Steps = append(view.Steps, templates.StepView{
			Title: s.Title, At: h.timeView(ctx, s.At), Failed: s.Failed, Reason: s.Reason, Advice: s.Advice, Detail: s.Detail,
		})
	}
	return view
}

// unavailable says why no app can connect; "" while one can.
func (h *Handlers) unavailable(ctx context.Context) string {
	if h.oauthOn {
		return ""
	}
	return lang.T(ctx, "Apps cannot connect: the public URL is plain http. Set GATEHOUSE_PUBLIC_URL to an https address.")
}

// isLocal reports whether the address works on this computer alone.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return false
}
