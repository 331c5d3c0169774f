package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	factorsPath          = accountPath + "/factors"
	purposeAddPasskey    = "add passkey"
	purposeKeepPasskey   = "keep passkey"
	purposeCodes         = "authenticator app"
	purposeConfirmCodes  = "confirm authenticator app"
	purposeRemoveCodes   = "remove authenticator app"
	purposeRecoveryCodes = "recovery codes"
	purposeSetPassword   = "set password"
	purposeDropPassword  = "drop password"
)

func purposeRenamePasskey(id string) string { return "rename passkey " + id }
func purposeRemovePasskey(id string) string { return "remove passkey " + id }

// Factors shows how the person signs in.
func (h *Handlers) Factors(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	return h.showFactors(c, http.StatusOK, session, "")
}

// SeeFactors answers a reload of an action's address.
func (h *Handlers) SeeFactors(c echo.Context) error { return see(c, factorsPath) }

func (h *Handlers) showFactors(c echo.Context, status int, session *account.Session, problem string) error {
	ctx, v := c.Request().Context(), visitOf(c)
	f, err := h.accounts.Factors(ctx, session.UserID)
	if err != nil {
		return err
	}
	view := templates.FactorsView{
		Shell: h.shell(c, lang.T(ctx, "How you sign in"), templates.NavAccount), Email: session.Person.Email, Problem: problem,
		Password: f.Password, MayDrop: len(f.Passkeys) > 0, SetToken: v.formToken(purposeSetPassword), DropToken: v.formToken(purposeDropPassword),
		AddToken: v.formToken(purposeAddPasskey), Codes: h.timeViewOf(ctx, f.CodesSince), ShortPassword: f.ShortPassword,
		CodesToken: v.formToken(purposeCodes), RecoveryLeft: f.RecoveryCodes, RecoveryToken: v.formToken(purposeRecoveryCodes),
	}
	if f.SecondFactor() {
		view.CodesToken = v.formToken(purposeRemoveCodes)
	}
	if !h.accounts.PasskeysPossible() {
		view.NoPasskeys = lang.T(ctx, "Browsers allow passkeys only at a host name with https, or at localhost. The address of this server (GATEHOUSE_PUBLIC_URL) is {url}.", "url", h.url)
	}
	for _, p := range f.Passkeys {
		view.Passkeys = append(view.Passkeys, h.passkeyLine(ctx, v, p))
	}
	return render(c, status, templates.Factors(view))
}

func (h *Handlers) passkeyLine(ctx context.Context, v *visit, p account.Passkey) templates.PasskeyLineView {
	base := factorsPath + "/passkeys/" + url.PathEscape(p.ID)
	return templates.PasskeyLineView{
		Name: p.Name, Synced: p.BackedUp, Added: h.timeView(ctx, p.CreatedAt), LastUsed: h.timeViewOf(ctx, p.LastUsedAt), WentBack: h.timeViewOf(ctx, p.WentBackAt),
		Rename: templ.SafeURL(base + "/rename"), RenameID: "name-" + p.ID, RenameToken: v.formToken(purposeRenamePasskey(p.ID)),
		Remove: templ.SafeURL(base + "/remove"), RemoveToken: v.formToken(purposeRemovePasskey(p.ID)),
	}
}

// readFactorPost reads a form that changes how somebody signs in: their own, given a recent sign-in.
func (h *Handlers) readFactorPost(c echo.Context, purpose string) (*account.Session, url.Values, error) {
	if _, err := h.requireSession(c); err != nil {
		return nil, nil, err
	}
	form, err := h.readPost(c, purpose)
	if err != nil {
		return nil, nil, err
	}
	session, err := h.requireFresh(c, factorsPath)
	return session, form, err
}

// factorChange changes something and gives the session that goes on, with its secret.
type factorChange func(context.Context, *account.Session, url.Values) (*account.Session, string, error)

// changeFactors carries out a button of the page.
func (h *Handlers) changeFactors(c echo.Context, purpose, done string, do factorChange) error {
	session, form, err := h.readFactorPost(c, purpose)
	if err != nil {
		return err
	}
	fresh, secret, err := do(c.Request().Context(), session, form)
	if err != nil {
		return h.factorRefused(c, session, err)
	}
	if err := h.goOnAs(c, fresh, secret); err != nil {
		return err
	}
	return see(c, withDone(factorsPath, done))
}

// goOnAs puts the session that goes on in place of the one that ended with the change.
func (h *Handlers) goOnAs(c echo.Context, fresh *account.Session, secret string) error {
	visitOf(c).session = nil
	return h.openSession(c, fresh, secret)
}

// factorRefused shows the page with the reason of a refusal.
func (h *Handlers) factorRefused(c echo.Context, session *account.Session, err error) error {
	ctx := c.Request().Context()
	var exceeded *limit.Exceeded
	if errors.As(err, &exceeded) {
		retryAfter(c.Response().Header(), exceeded.RetryAfter)
		return h.showFactors(c, http.StatusTooManyRequests, session, tooManyTries(c, exceeded))
	}
	if errors.Is(err, account.ErrPasskey) {
		h.logError(c, http.StatusUnprocessableEntity, "passkey", err)
	}
	if problem := problemOf(ctx, err); problem != "" {
		return h.showFactors(c, http.StatusUnprocessableEntity, session, lang.T(ctx, problem))
	}
	return err
}

// AskNewPasskey shows the page that lets the browser make a passkey.
func (h *Handlers) AskNewPasskey(c echo.Context) error {
	session, form, err := h.readFactorPost(c, purposeAddPasskey)
	if err != nil {
		return err
	}
	ctx, v := c.Request().Context(), visitOf(c)
	request, err := h.accounts.BeginAddPasskey(ctx, session, v.secret)
	if err != nil {
		return h.factorRefused(c, session, err)
	}
	name := form.Get("name")
	if name == "" {
		name = deviceName(c.Request().Context(), c.Request().UserAgent())
	}
	allowScript(c)
	return render(c, http.StatusOK, templates.Passkey(templates.PasskeyView{
		Shell: h.shell(c, lang.T(ctx, "Add a passkey"), templates.NavAccount), Token: v.formToken(purposeKeepPasskey),
		Lead:   lang.T(ctx, "Your browser asks now where to keep the passkey: on this device, on your phone, or on a security key."),
		Action: factorsPath + "/passkeys/finish", Create: true, Options: request.Options, Ceremony: request.ID, Back: factorsPath,
		Hidden: []templates.HiddenView{{Name: "name", Value: name}},
	}))
}

// AddPasskey keeps the passkey that the browser made.
func (h *Handlers) AddPasskey(c echo.Context) error {
	return h.changeFactors(c, purposeKeepPasskey, "passkey", func(ctx context.Context, s *account.Session, form url.Values) (*account.Session, string, error) {
		return h.accounts.AddPasskey(ctx, s, visitOf(c).secret, form.Get("ceremony"), form.Get("answer"), form.Get("name"), device(c))
	})
}

// RenamePasskey gives a passkey another name.
func (h *Handlers) RenamePasskey(c echo.Context) error {
	id := c.Param("passkey")
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	form, err := h.readPost(c, purposeRenamePasskey(id))
	if err != nil {
		return err
	}
	if err := h.accounts.RenamePasskey(c.Request().Context(), session, id, form.Get("name")); err != nil {
		return h.factorRefused(c, session, err)
	}
	return see(c, withDone(factorsPath, "renamed"))
}

// RemovePasskey removes one.
func (h *Handlers) RemovePasskey(c echo.Context) error {
	id := c.Param("passkey")
	return h.changeFactors(c, purposeRemovePasskey(id), "passkey_removed", func(ctx context.Context, s *account.Session, _ url.Values) (*account.Session, string, error) {
		return h.accounts.RemovePasskey(ctx, s, id, device(c))
	})
}

// SetPassword gives somebody without a password one.
func (h *Handlers) SetPassword(c echo.Context) error {
	return h.changeFactors(c, purposeSetPassword, "password", func(ctx context.Context, s *account.Session, form url.Values) (*account.Session, string, error) {
		return h.accounts.SetPassword(ctx, s, form.Get("password"), device(c))
	})
}

// DropPassword takes the password away.
func (h *Handlers) DropPassword(c echo.Context) error {
	return h.changeFactors(c, purposeDropPassword, "password_removed", func(ctx context.Context, s *account.Session, _ url.Values) (*account.Session, string, error) {
		return h.accounts.DropPassword(ctx, s, device(c))
	})
}
