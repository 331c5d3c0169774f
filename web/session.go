package web

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/oauth"
)

// visit is who looks at a page. The zero value is a stranger.
type visit struct {
	session *account.Session
	// secret is what form tokens are bound to: the session's cookie, or the cookie of a stranger's forms.
	secret string
}

func (v *visit) owner() oauth.ResourceOwner {
	if v.session == nil {
		return oauth.ResourceOwner{}
	}
	return oauth.ResourceOwner{
		UserID: v.session.UserID, AuthTime: v.session.AuthTime, SignIn: v.session.ID,
		ACR: account.StrengthOf(v.session.AMR), AMR: v.session.AMR,
	}
}

// owner is the person at the browser, with how strongly they could sign in.
func (h *Handlers) owner(c echo.Context) (oauth.ResourceOwner, error) {
	who := visitOf(c).owner()
	var err error
	if who.SignedIn() {
		who.StrongestACR, err = h.accounts.StrongestSignIn(c.Request().Context(), who.UserID)
	}
	return who, err
}

func (v *visit) signedIn() bool { return v.session != nil }

func (v *visit) userID() string {
	if v.session == nil {
		return ""
	}
	return v.session.UserID
}

const visitKey = "web.visit"

func visitOf(c echo.Context) *visit {
	if v, ok := c.Get(visitKey).(*visit); ok {
		return v
	}
	return &visit{}
}

// openPage reads the session's cookie and runs the handler of a page.
func (h *Handlers) openPage(c echo.Context, handler echo.HandlerFunc) error {
	v := &visit{}
	c.Set(visitKey, v)
	h.nameBrowser(c)
	if cookie, err := c.Cookie(h.sessionCookie()); err == nil {
		session, err := h.accounts.SessionBySecret(c.Request().Context(), cookie.Value)
		switch {
		case err == nil:
			v.session, v.secret = session, cookie.Value
			if err := stopForDeletion(c, session); err != nil {
				return err
			}
			return handler(c)
		case !errors.Is(err, account.ErrNotFound):
			// Nothing is known of the session, so nobody is a stranger because of it; the next load may work.
			return oauth.TemporarilyUnavailable(fmt.Errorf("read session: %w", err))
		}
	}
	if cookie, err := c.Cookie(h.formCookie()); err == nil && len(cookie.Value) == formSecretLength {
		v.secret = cookie.Value
	}
	return handler(c)
}

// The names of the cookies. The __Host- prefix makes browsers refuse one that a subdomain or plain http tries to plant;
// it needs https, so that plain http on this computer uses other names.
func (h *Handlers) sessionCookie() string { return h.cookiePrefix() + "gatehouse" }
func (h *Handlers) formCookie() string    { return h.cookiePrefix() + "gatehouse-form" }

func (h *Handlers) cookiePrefix() string {
	if h.https {
		return "__Host-"
	}
	return ""
}

// cookie makes a cookie. SameSite is Lax and not Strict, which would hide the session when an app's link opens the
// authorization endpoint.
func (h *Handlers) cookie(name, value string, life time.Duration) *http.Cookie {
	cookie := &http.Cookie{
		Name: name, Value: value, Path: "/", HttpOnly: true, Secure: h.https, SameSite: http.SameSiteLaxMode,
		MaxAge: int(life / time.Second),
	}
	if life <= 0 {
		cookie.MaxAge = -1
	}
	return cookie
}

// openSession hands a new session's secret to the browser and ends the one it replaces.
func (h *Handlers) openSession(c echo.Context, session *account.Session, secret string) error {
	v := visitOf(c)
	if v.signedIn() {
		if err := h.accounts.SignOut(c.Request().Context(), v.secret); err != nil {
			return err
		}
	}
	c.SetCookie(h.cookie(h.sessionCookie(), secret, session.ExpiresAt.Sub(h.now())))
	c.SetCookie(h.cookie(h.formCookie(), "", 0))
	v.session, v.secret = session, secret
	return nil
}

// requireSession gives the session, or the error that sends a stranger to the sign-in page and back.
func (h *Handlers) requireSession(c echo.Context) (*account.Session, error) {
	if v := visitOf(c); v.signedIn() {
		return v.session, nil
	}
	target := "/signin"
	if r := c.Request(); r.Method == http.MethodGet && r.URL.Path != "/" {
		target += "?" + url.Values{"return": {r.URL.RequestURI()}}.Encode()
	}
	return nil, &seeOther{target}
}

func device(c echo.Context) account.Device {
	return account.Device{IP: c.RealIP(), UserAgent: c.Request().UserAgent()}
}

// formSecretLength is that of 32 bytes in base64url.
const formSecretLength = 43

// ensureFormSecret gives a stranger's browser the cookie that form tokens are bound to. Tabs share it.
func (h *Handlers) ensureFormSecret(c echo.Context) error {
	v := visitOf(c)
	if v.secret != "" {
		return nil
	}
	random := make([]byte, 32)
	if _, err := io.ReadFull(h.rand, random); err != nil {
		return fmt.Errorf("make form secret: %w", err)
	}
	v.secret = base64.RawURLEncoding.EncodeToString(random)
	c.SetCookie(h.cookie(h.formCookie(), v.secret, 24*time.Hour))
	return nil
}
