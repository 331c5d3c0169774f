package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"gatehouse/app/limit"
	"gatehouse/oauth"
	"gatehouse/templates"
)

// Authorize is the authorization endpoint (OAuth 2.1 §3.1). It checks and stores the request and goes on to a page that
// carries nothing but the request's id, so that any number of them can be open at once. A POST may come from a client's
// own site: it stores a request as a GET does and changes nothing else.
func (h *Handlers) Authorize(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.OAuthPages); err != nil {
		return err
	}
	params, err := readAuthorization(c)
	if err != nil {
		return err
	}
	if err := h.beginInBrowser(c); err != nil {
		return err
	}
	signedIn := visitOf(c).signedIn()
	request, err := h.oauth.BeginAuthorization(c.Request().Context(), params, signedIn)
	if err != nil {
		return err
	}
	if !signedIn {
		return see(c, signInPath(request.ID))
	}
	return see(c, consentPath(request.ID))
}

func readAuthorization(c echo.Context) (url.Values, error) {
	if c.Request().Method == http.MethodPost {
		return readForm(c)
	}
	return readQuery(c.Request())
}

func consentPath(id string) string { return "/authorize/" + url.PathEscape(id) }

func signInPath(id string) string { return "/signin?request=" + url.QueryEscape(id) }

// Consent shows what a stored request waits for.
func (h *Handlers) Consent(c echo.Context) error {
	v := visitOf(c)
	prompt, err := h.resume(c, c.Param("request"))
	if err != nil {
		return err
	}
	switch prompt.Next {
	case oauth.NextDecided:
		return h.showDecided(c, prompt.Outcome == oauth.OutcomeAllowed)
	case oauth.NextSignIn:
		return see(c, signInPath(prompt.RequestID))
	}
	view, err := h.consentView(c, prompt, v.session.Person)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.Consent(*view))
}

// resume reads a stored request for whoever looks at it.
func (h *Handlers) resume(c echo.Context, id string) (*oauth.Prompt, error) {
	if id = parseRequestID(id); id == "" {
		return nil, oauth.InvalidRequest("The authorization request is unknown. Start again from the app.").WithCheck("request")
	}
	if err := h.ensureBrowser(c); err != nil {
		return nil, err
	}
	who, err := h.owner(c)
	if err != nil {
		return nil, err
	}
	return h.oauth.ResumeAuthorization(c.Request().Context(), id, who)
}

func (h *Handlers) showDecided(c echo.Context, allowed bool) error {
	title := say(c, "You have already decided")
	return render(c, http.StatusOK, templates.Decided(templates.DecidedView{Shell: h.shell(c, title, ""), Allowed: allowed}))
}

// SeeConsent answers a reload of the decision's address.
func (h *Handlers) SeeConsent(c echo.Context) error { return see(c, consentPath(c.Param("request"))) }

// Decide takes the decision and sends the browser back to the client.
func (h *Handlers) Decide(c echo.Context) error {
	id := c.Param("request")
	v := visitOf(c)
	if !v.signedIn() {
		return see(c, signInPath(id))
	}
	form, err := h.readPost(c, purposeConsent(id))
	if err != nil {
		return err
	}
	d := parseDecision(form)
	answer, err := h.decide(c, id, d)
	if errors.Is(err, errAskAgain) {
		return nil // the page was shown once more
	}
	if errors.Is(err, oauth.ErrUsed) && d.answer == "allow" { // a second click: the browser dropped the answer to the first
		answer, err = h.oauth.AnswerAgain(c.Request().Context(), id, v.owner())
	}
	if errors.Is(err, oauth.ErrUsed) {
		return see(c, consentPath(id))
	}
	var refused *oauth.Error
	if errors.As(err, &refused) && refused.Check == "sign_in" {
		return see(c, signInPath(id)) // the session ended, or grew too old, while the form was under way
	}
	if err != nil {
		return err
	}
	if answer.Untrusted {
		return h.showDenied(c, answer)
	}
	return h.redirect(c, answer.RedirectURI, Event{
		ClientID: answer.ClientID, RequestID: oauth.RequestCorrelation(id), UserID: v.userID(), Detail: answer.Host,
	})
}
