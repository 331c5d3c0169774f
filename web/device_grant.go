package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/app/limit"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	purposeDevice         = "device code"
	purposeDeviceDecision = "device decision"
	deviceDecisionPath    = oauth.PathDevice + "/decision"
	// deviceExpiry is the choice that starts ticked: an approval given at a distance should not last for ever unasked.
	deviceExpiry = "30d"
)

// AuthorizeDevice is the device authorization endpoint (RFC 8628 §3.1).
func (h *Handlers) AuthorizeDevice(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.OAuthDevices); err != nil {
		return err
	}
	in, err := readBackChannel(c)
	if err != nil {
		return err
	}
	ctx := oauth.WithDeviceHint(c.Request().Context(), deviceName(c.Request().Context(), c.Request().UserAgent()))
	answer, err := h.oauth.AuthorizeDevice(ctx, in.form, in.auth, c.RealIP())
	if err != nil {
		return h.countClientFailure(c, in.auth.ClientID, err)
	}
	return c.JSON(http.StatusOK, answer)
}

// DevicePage asks for the code of a device. A code in the address is only filled in: nothing is looked up before the
// person has pressed the button (RFC 8628 §3.3.1).
func (h *Handlers) DevicePage(c echo.Context) error {
	if _, err := h.requireSession(c); err != nil {
		return err
	}
	return h.askDeviceCode(c, http.StatusOK, oauth.CleanUserCode(c.QueryParam("user_code")), "")
}

func (h *Handlers) askDeviceCode(c echo.Context, status int, code, problem string) error {
	ctx := c.Request().Context()
	return render(c, status, templates.DeviceCode(templates.DeviceCodeView{
		Shell: h.shell(c, lang.T(ctx, "Connect a device"), ""), Token: visitOf(c).formToken(purposeDevice), Code: code, Problem: problem,
	}))
}

// deviceForm is a form with a user code, read once.
type deviceForm struct {
	code string
	decision
}

func parseDevice(form url.Values) deviceForm {
	return deviceForm{code: form.Get("user_code"), decision: parseDecision(form)}
}

// readDevice reads a form about a device and counts the try: a code is short enough to be guessed.
func (h *Handlers) readDevice(c echo.Context, purpose string) (deviceForm, error) {
	v := visitOf(c)
	if !v.signedIn() {
		return deviceForm{}, &seeOther{"/signin?return=" + url.QueryEscape(oauth.PathDevice)}
	}
	form, err := h.readPost(c, purpose)
	if err != nil {
		return deviceForm{}, err
	}
	if err := h.take(c, limit.DeviceCodes, v.session.ID); err != nil {
		return deviceForm{}, err
	}
	if err := h.takeByNetwork(c, limit.DeviceCodesOfOne); err != nil {
		return deviceForm{}, err
	}
	return parseDevice(form), nil
}

// EnterDeviceCode shows what the device of a code asks for.
func (h *Handlers) EnterDeviceCode(c echo.Context) error {
	in, err := h.readDevice(c, purposeDevice)
	if err != nil {
		return err
	}
	prompt, err := h.oauth.PromptDevice(c.Request().Context(), in.code, visitOf(c).owner())
	if err != nil {
		return h.deviceFailed(c, in.code, err)
	}
	view, err := h.deviceView(c, prompt)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.DeviceConfirm(*view))
}

// deviceFailed asks for the code again when it was none: wrong, expired and used look alike.
func (h *Handlers) deviceFailed(c echo.Context, code string, err error) error {
	var refused *oauth.Error
	if !errors.As(err, &refused) || refused.Check != "user_code" {
		return err
	}
	return h.askDeviceCode(c, http.StatusUnprocessableEntity, oauth.CleanUserCode(code),
		lang.T(c.Request().Context(), "This code is wrong or has expired. Compare it with the device, or start again there."))
}

func (h *Handlers) deviceView(c echo.Context, p *oauth.DevicePrompt) (*templates.DeviceConfirmView, error) {
	ctx, v := c.Request().Context(), visitOf(c)
	person := v.session.Person
	existing, err := h.connections.Existing(ctx, person.ID, p.Client.ID, p.Resource.URI)
	if err != nil {
		return nil, err
	}
	app := appView(ctx, p.Client)
	view := &templates.DeviceConfirmView{
		Shell: h.shell(c, lang.T(ctx, "Allow {app}?", "app", app.Name), ""), Token: v.formToken(purposeDeviceDecision), Code: p.UserCode,
		App: app, Resource: resourceName(p.Resource), Device: p.DeviceHint, Address: p.Address, Asked: h.timeView(ctx, p.CreatedAt),
		PersonName: person.Name, PersonEmail: person.Email, SwitchToken: v.formToken(purposeSignOut),
		Return: oauth.PathDevice + "?user_code=" + url.QueryEscape(p.UserCode),
		Scopes: offeredScopes(ctx, p.Offered, existing), Located: h.actsSomewhere(p, offeredNames(p.Offered)), Expiries: expiryChoices(ctx, deviceExpiry),
		Existing: h.existingView(ctx, existing, &p.Prompt),
	}
	if view.Located {
		view.Locations, err = h.offeredLocations(c, person.ID, existing)
	}
	return view, err
}

// SeeDevice answers a reload of the decision's address.
func (h *Handlers) SeeDevice(c echo.Context) error { return see(c, oauth.PathDevice) }

// DecideDevice takes the decision about a device.
func (h *Handlers) DecideDevice(c echo.Context) error {
	in, err := h.readDevice(c, purposeDeviceDecision)
	if err != nil {
		return err
	}
	ctx, owner := c.Request().Context(), visitOf(c).owner()
	prompt, err := h.oauth.PromptDevice(ctx, in.code, owner)
	if err != nil {
		return h.deviceFailed(c, in.code, err)
	}
	d := oauth.Decision{}
	if in.answer != "deny" {
		var problem string
		if d, problem, err = h.deviceDecision(c, prompt, in.decision); err != nil {
			return err
		}
		if problem != "" {
			return h.askDeviceAgain(c, prompt, in.decision, problem)
		}
	}
	err = h.oauth.DecideDevice(ctx, in.code, owner, d)
	var refused *oauth.Error
	switch {
	case errors.Is(err, oauth.ErrNoScope):
		return h.askDeviceAgain(c, prompt, in.decision, noScope)
	case errors.As(err, &refused) && refused.Check == "sign_in":
		return see(c, "/signin?return="+url.QueryEscape(oauth.PathDevice))
	case err != nil:
		return h.deviceFailed(c, in.code, err)
	}
	return h.deviceDone(c, prompt, d.Allow)
}

func (h *Handlers) deviceDone(c echo.Context, p *oauth.DevicePrompt, allowed bool) error {
	ctx := c.Request().Context()
	title := lang.T(ctx, "You denied this")
	if allowed {
		title = lang.T(ctx, "Go back to your device")
		h.record(c, audit.Entry{Action: audit.DeviceConnected, PersonID: visitOf(c).userID(), ClientID: p.Client.ID,
			Detail: map[string]string{"device": p.DeviceHint + " " + p.Address}})
	}
	return render(c, http.StatusOK, templates.DeviceDone(templates.DeviceDoneView{
		Shell: h.shell(c, title, ""), App: clientName(ctx, p.Client.Name, p.Client.ID), Allowed: allowed,
	}))
}

// actsSomewhere reports whether some of the scopes act at locations: those that only tell who somebody is do not.
func (h *Handlers) actsSomewhere(p *oauth.DevicePrompt, scopes []string) bool {
	return h.located(p.Resource.URI) && slices.ContainsFunc(scopes, func(s string) bool { return !p.Resource.IsIdentity(s) })
}

func offeredNames(offered []oauth.OfferedScope) []string {
	var names []string
	for _, o := range offered {
		names = append(names, o.Name)
	}
	return names
}

// deviceDecision makes the approval, or says in words what is missing. Tools that the person hid from the app before stay
// hidden.
func (h *Handlers) deviceDecision(c echo.Context, p *oauth.DevicePrompt, d decision) (oauth.Decision, string, error) {
	ctx, userID := c.Request().Context(), visitOf(c).userID()
	out := oauth.Decision{Allow: true, Scopes: d.scopes}
	known := false
	for _, e := range expiries {
		if e.value == d.expires {
			known = true
			if e.life > 0 {
				at := h.now().UTC().Truncate(time.Millisecond).Add(e.life)
				out.ExpiresAt = &at
			}
		}
	}
	located := h.actsSomewhere(p, d.scopes)
	switch {
	case d.answer != "allow":
		return out, noDecision, nil
	case len(d.scopes) == 0:
		return out, noScope, nil
	case !known:
		return out, noExpiry, nil
	case located && len(d.locations) == 0:
		return out, noLocation, nil
	}
	t := connection.Terms{}
	if located {
		t.Locations = d.locations
		var invalid *connection.Invalid
		if err := h.connections.CheckLocations(ctx, userID, t.Locations); errors.As(err, &invalid) {
			return out, invalid.Message, nil
		} else if err != nil {
			return out, "", err
		}
	}
	existing, err := h.connections.Existing(ctx, userID, p.Client.ID, p.Resource.URI)
	if err != nil {
		return out, "", err
	}
	choice, err := h.consentTools(&p.Prompt, existing)
	if err != nil {
		return out, "", err
	}
	if t.HiddenTools, out.Details, err = h.approvedTools(&p.Prompt, choice, toolForm{}); err != nil {
		return out, "", err
	}
	out.Terms, err = t.Encode()
	return out, "", err
}

// askDeviceAgain shows the page once more with the person's own ticks.
func (h *Handlers) askDeviceAgain(c echo.Context, p *oauth.DevicePrompt, d decision, problem string) error {
	view, err := h.deviceView(c, p)
	if err != nil {
		return err
	}
	view.Problem = problem
	retick(view.Scopes, d.scopes)
	retick(view.Locations, d.locations)
	if isExpiry(d.expires) {
		retick(view.Expiries, []string{d.expires})
	}
	return render(c, http.StatusUnprocessableEntity, templates.DeviceConfirm(*view))
}
