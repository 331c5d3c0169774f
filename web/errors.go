package web

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/limit"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// PageError is an error for a person: a page that says what failed, why most likely, and what to do. Its texts are keys
// of the catalogues: write them with lang.Text; they are translated when they are shown.
type PageError struct {
	Status int
	Title  string
	// What failed, Why most likely, and what the person can do.
	What, Why string
	Advice    []string
	// Host stands for {host} in the texts.
	Host string
	// Code and Detail are for the app's developer.
	Code, Detail string
	RetryAfter   time.Duration
	Cause        error
}

// Error implements error.
func (e *PageError) Error() string {
	if e.Cause != nil {
		return e.Title + ": " + e.Cause.Error()
	}
	return e.Title
}

// Unwrap gives the cause.
func (e *PageError) Unwrap() error { return e.Cause }

// HandleError writes every error of every handler; it is Echo's HTTPErrorHandler. Causes go to the log, here and once.
func (h *Handlers) HandleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	if writeErr := h.writeError(err, c); writeErr != nil {
		h.log.Error("write error", "cause", writeErr, "route", c.Path())
	}
}

func (h *Handlers) writeError(err error, c echo.Context) error {
	kind := kindOf(c)
	if c.Get(kindKey) == nil {
		h.prepare(c, kind)
	}
	var elsewhere *seeOther
	if errors.As(err, &elsewhere) {
		return see(c, elsewhere.path)
	}
	var toClient *oauth.RedirectError
	if errors.As(err, &toClient) {
		return h.sendRefusal(c, toClient)
	}
	if kind == Document || kind == BackChannel || kind == ServerChannel || wantsJSON(c, kind) {
		return h.sendJSON(c, h.protocolError(err))
	}
	return h.sendPage(c, h.pageError(err))
}

// wantsJSON: programs that look at a page's endpoint before they open a browser ask for JSON, and act on the code.
func wantsJSON(c echo.Context, kind Kind) bool {
	accept := c.Request().Header.Get(echo.HeaderAccept)
	return (kind == ClientPage || c.Get(kindKey) == nil) && strings.Contains(accept, "json") && !strings.Contains(accept, "html")
}

// protocolError turns any error into one of the protocol. Failures of ours are never codes on which clients throw their
// tokens away.
func (h *Handlers) protocolError(err error) *oauth.Error {
	var protocol *oauth.Error
	var framework *echo.HTTPError
	var page *PageError
	var exceeded *limit.Exceeded
	switch {
	case errors.As(err, &protocol):
		return protocol
	case errors.As(err, &exceeded):
		return oauth.SlowDown(exceeded.RetryAfter)
	case errors.As(err, &page):
		e := oauth.InvalidRequest(page.What)
		e.Status = page.Status
		return e
	case errors.As(err, &framework):
		return frameworkError(framework)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return oauth.TemporarilyUnavailable(err)
	}
	return oauth.ServerError(err)
}

func frameworkError(err *echo.HTTPError) *oauth.Error {
	switch {
	case err.Code == http.StatusTooManyRequests:
		return oauth.SlowDown(time.Second)
	case err.Code == http.StatusServiceUnavailable:
		return oauth.TemporarilyUnavailable(err)
	case err.Code >= http.StatusInternalServerError:
		return oauth.ServerError(err)
	}
	description := http.StatusText(err.Code) + "."
	switch err.Code {
	case http.StatusNotFound:
		description = "There is nothing at this address."
	case http.StatusMethodNotAllowed:
		description = "The method is not allowed here. See the Allow header."
	}
	e := oauth.InvalidRequest(description)
	e.Status = err.Code
	return e
}

// sendJSON writes an error of the protocol (OAuth 2.1 §3.2.4).
func (h *Handlers) sendJSON(c echo.Context, e *oauth.Error) error {
	h.logError(c, e.Status, e.Code, e.Cause)
	header := c.Response().Header()
	noStore(header)
	header.Del("Content-Language") // codes and descriptions are English
	if e.Challenge != "" {
		header.Set(echo.HeaderWWWAuthenticate, e.Challenge)
	}
	retryAfter(header, e.RetryAfter)
	return c.JSON(e.Status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{e.Code, e.Description})
}

func retryAfter(header http.Header, wait time.Duration) {
	if wait > 0 {
		header.Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
}

// sendRefusal sends an error to the client, or shows where it would go when nobody vouches for the target.
func (h *Handlers) sendRefusal(c echo.Context, e *oauth.RedirectError) error {
	location := e.Location(h.oauth.Issuer())
	if location == "" {
		return h.sendPage(c, h.pageError(e.Err))
	}
	h.logError(c, e.Err.Status, e.Err.Code, e.Err.Cause)
	if e.Untrusted {
		return render(c, http.StatusBadRequest, templates.Leave(templates.LeaveView{
			Shell: h.shell(c, say(c, "This did not work"), ""), Host: e.Host(), URL: templ.SafeURL(location),
			Reason: e.Err.Description, Correlation: requestID(c),
		}))
	}
	return h.redirect(c, location, Event{ClientID: e.ClientID, Detail: e.Host()})
}

// redirect sends the browser to a client: 303, so that a POST does not travel on, and without a Referer.
func (h *Handlers) redirect(c echo.Context, location string, e Event) error {
	e.Step, e.OK = StepRedirected, true
	h.note(c, e)
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusSeeOther, location)
}

// pageError turns any error into a page.
func (h *Handlers) pageError(err error) *PageError {
	var page *PageError
	var exceeded *limit.Exceeded
	var protocol *oauth.Error
	switch {
	case errors.As(err, &page):
		return page
	case errors.Is(err, account.ErrNotFound), errors.Is(err, connection.ErrNotFound):
		return notFoundPage()
	case errors.Is(err, account.ErrLinkGone):
		return linkGonePage()
	case errors.As(err, &exceeded):
		return tooManyPage(exceeded.RetryAfter)
	}
	if !errors.As(err, &protocol) {
		protocol = h.protocolError(err)
	}
	return protocolPage(protocol)
}

func (h *Handlers) sendPage(c echo.Context, e *PageError) error {
	h.logError(c, e.Status, e.Code, e.Cause)
	retryAfter(c.Response().Header(), e.RetryAfter)
	ctx := c.Request().Context()
	text := func(s string) string { return lang.T(ctx, s, "host", e.Host) }
	advice := make([]string, len(e.Advice))
	for i := range e.Advice {
		advice[i] = text(e.Advice[i])
	}
	what := text(e.What)
	if refusal := problemOf(ctx, e.Cause); refusal != "" {
		what = refusal
	}
	shell := h.shell(c, text(e.Title), "")
	shell.LanguageToken = "" // there may be no way back to an error, and it must read the same whatever the address hides
	return render(c, e.Status, templates.Error(templates.ErrorView{
		Shell: shell, What: what, Cause: text(e.Why), Advice: advice, Code: e.Code, Detail: e.Detail,
		Correlation: requestID(c),
	}))
}

// logError logs the cause of an answer. What a caller did wrong is no news.
func (h *Handlers) logError(c echo.Context, status int, code string, cause error) {
	level := slog.LevelDebug
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	if cause == nil && level == slog.LevelDebug {
		return
	}
	h.log.LogAttrs(c.Request().Context(), level, "refused", slog.String("route", c.Path()), slog.Int("status", status),
		slog.String("code", code), slog.Any("cause", cause), slog.String("request_id", requestID(c)))
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }
