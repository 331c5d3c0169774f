package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	enrolPath         = factorsPath + "/authenticator"
	recoveryCodesPath = factorsPath + "/recovery-codes"
)

// BeginEnrol makes the seed of an authenticator app and goes on to the page that shows it.
func (h *Handlers) BeginEnrol(c echo.Context) error {
	session, _, err := h.readFactorPost(c, purposeCodes)
	if err != nil {
		return err
	}
	if err := h.accounts.BeginCodes(c.Request().Context(), session); err != nil {
		return h.factorRefused(c, session, err)
	}
	return see(c, enrolPath)
}

// EnrolPage shows the seed that waits to be confirmed.
func (h *Handlers) EnrolPage(c echo.Context) error {
	session, err := h.requireFresh(c, enrolPath)
	if err != nil {
		return err
	}
	return h.showEnrol(c, http.StatusOK, session, "")
}

// SeeEnrol answers a reload of the confirmation's address.
func (h *Handlers) SeeEnrol(c echo.Context) error { return see(c, enrolPath) }

func (h *Handlers) showEnrol(c echo.Context, status int, session *account.Session, problem string) error {
	ctx := c.Request().Context()
	e, err := h.accounts.Enrolment(ctx, session)
	if errors.Is(err, account.ErrNotFound) {
		return see(c, factorsPath)
	}
	if err != nil {
		return err
	}
	picture, err := drawQR(e.URI)
	if err != nil {
		return fmt.Errorf("draw QR code: %w", err)
	}
	return render(c, status, templates.Enrol(templates.EnrolView{
		Shell: h.shell(c, lang.T(ctx, "Set up an authenticator app"), templates.NavAccount), Token: visitOf(c).formToken(purposeConfirmCodes),
		Secret: inGroups(e.Secret), QR: picture.path, QRSize: picture.size, Problem: problem,
	}))
}

// inGroups puts a space after every four characters.
func inGroups(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// ConfirmEnrol turns the second factor on and goes on to the page with the recovery codes.
func (h *Handlers) ConfirmEnrol(c echo.Context) error {
	session, form, err := h.readFactorPost(c, purposeConfirmCodes)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	codes, fresh, secret, err := h.accounts.ConfirmCodes(ctx, session, form.Get("code"), device(c))
	switch {
	case errors.Is(err, account.ErrWrongCode):
		return h.showEnrol(c, http.StatusUnprocessableEntity, session, lang.T(ctx, "This code is not right. Check that the clock of your phone is, and try the next code."))
	case errors.Is(err, account.ErrNotFound):
		return see(c, factorsPath)
	case err != nil:
		return h.factorRefused(c, session, err)
	}
	if err := h.goOnAs(c, fresh, secret); err != nil {
		return err
	}
	return h.handOverCodes(c, shownCodes{Codes: codes, Fresh: true})
}

// RemoveAuthenticator turns the second factor off.
func (h *Handlers) RemoveAuthenticator(c echo.Context) error {
	return h.changeFactors(c, purposeRemoveCodes, "codes_removed", func(ctx context.Context, s *account.Session, _ url.Values) (*account.Session, string, error) {
		return h.accounts.RemoveCodes(ctx, s, device(c))
	})
}

// NewRecoveryCodes replaces the recovery codes and goes on to the page that shows them.
func (h *Handlers) NewRecoveryCodes(c echo.Context) error {
	session, _, err := h.readFactorPost(c, purposeRecoveryCodes)
	if err != nil {
		return err
	}
	codes, err := h.accounts.NewRecoveryCodes(c.Request().Context(), session)
	if errors.Is(err, account.ErrNotFound) {
		return see(c, factorsPath)
	}
	if err != nil {
		return err
	}
	return h.handOverCodes(c, shownCodes{Codes: codes})
}

// shownCodes travel to their page as a new personal token does: in a cookie that opens in this session alone.
type shownCodes struct {
	Codes []string `json:"c"`
	Fresh bool     `json:"f,omitempty"`
}

func (h *Handlers) codesCookie() string { return h.cookiePrefix() + "gatehouse-codes" }

func (h *Handlers) handOverCodes(c echo.Context, codes shownCodes) error {
	sealed, err := visitOf(c).seal(h.rand, codes)
	if err != nil {
		return fmt.Errorf("hand over recovery codes: %w", err)
	}
	c.SetCookie(h.cookie(h.codesCookie(), sealed, codesLife))
	return see(c, recoveryCodesPath)
}

// RecoveryCodes shows new recovery codes, this once.
func (h *Handlers) RecoveryCodes(c echo.Context) error {
	if _, err := h.requireSession(c); err != nil {
		return err
	}
	cookie, err := c.Cookie(h.codesCookie())
	if err != nil {
		return see(c, factorsPath)
	}
	c.SetCookie(h.cookie(h.codesCookie(), "", 0))
	var codes shownCodes
	if err := visitOf(c).unseal(cookie.Value, &codes); err != nil || len(codes.Codes) == 0 {
		return see(c, factorsPath) // another session's
	}
	ctx := c.Request().Context()
	text := lang.T(ctx, "Recovery codes for Gatehouse at {url}. Each works once.", "url", h.url) + "\n\n" + strings.Join(codes.Codes, "\n") + "\n"
	allowScript(c)
	return render(c, http.StatusOK, templates.RecoveryCodes(templates.RecoveryCodesView{
		Shell: h.shell(c, lang.T(ctx, "Your recovery codes"), templates.NavAccount), Codes: codes.Codes, Fresh: codes.Fresh,
		Download: templ.SafeURL("data:text/plain;charset=utf-8," + url.PathEscape(text)),
	}))
}
