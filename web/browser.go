package web

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/oauth"
)

// An authorization request belongs to the browser that began it. The browser is told by a cookie of its own, which says
// nothing about who uses it and outlives signing in and out. Tabs share it. A client's page that posts a request sends no
// cookie along (SameSite); such a request is given to the browser when it follows the redirect, a moment later.

func (h *Handlers) browserCookie() string { return h.cookiePrefix() + "gatehouse-browser" }

// browserLife is how long the cookie lasts; each request begun renews it.
const browserLife = 24 * time.Hour

// nameBrowser puts the browser into the request's context, as far as it is known.
func (h *Handlers) nameBrowser(c echo.Context) {
	if cookie, err := c.Cookie(h.browserCookie()); err == nil && len(cookie.Value) == formSecretLength {
		setBrowser(c, cookie.Value)
	}
}

const browserKey = "web.browser"

func setBrowser(c echo.Context, secret string) {
	c.Set(browserKey, secret)
	c.SetRequest(c.Request().WithContext(oauth.WithBrowser(c.Request().Context(), secret)))
}

// ensureBrowser gives a browser without the cookie one.
func (h *Handlers) ensureBrowser(c echo.Context) error {
	if secret, _ := c.Get(browserKey).(string); secret != "" {
		return nil
	}
	random := make([]byte, 32)
	if _, err := io.ReadFull(h.rand, random); err != nil {
		return fmt.Errorf("name browser: %w", err)
	}
	secret := base64.RawURLEncoding.EncodeToString(random)
	setBrowser(c, secret)
	c.SetCookie(h.cookie(h.browserCookie(), secret, browserLife))
	return nil
}

// beginInBrowser names the browser of a new request. A POST without the cookie stays unnamed: another cookie in its place
// would take the requests of other tabs away.
func (h *Handlers) beginInBrowser(c echo.Context) error {
	secret, _ := c.Get(browserKey).(string)
	if secret == "" && c.Request().Method == http.MethodPost {
		return nil
	}
	if secret != "" {
		c.SetCookie(h.cookie(h.browserCookie(), secret, browserLife))
	}
	return h.ensureBrowser(c)
}
