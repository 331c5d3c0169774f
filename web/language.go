package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/templates/lang"
)

const (
	purposeLanguage = "language"
	languageLife    = 365 * 24 * time.Hour
)

func (h *Handlers) languageCookie() string { return h.cookiePrefix() + "gatehouse-language" }

// speak chooses the language of a page: the one chosen in this browser, else the best for what it accepts. It holds for
// all that is done for the request.
func (h *Handlers) speak(c echo.Context) {
	chosen := ""
	if cookie, err := c.Cookie(h.languageCookie()); err == nil {
		chosen = cookie.Value
	}
	r := c.Request()
	language := lang.Match(chosen, r.Header.Get("Accept-Language"))
	c.SetRequest(r.WithContext(lang.With(r.Context(), language)))
	header := c.Response().Header()
	header.Set("Content-Language", language.Tag)
	header.Set(echo.HeaderVary, "Accept-Language, Cookie")
}

// ChooseLanguage takes the choice of the switch at the foot of pages and goes back to the page.
func (h *Handlers) ChooseLanguage(c echo.Context) error {
	form, err := h.readPost(c, purposeLanguage)
	if err != nil {
		return err
	}
	if language := lang.ByTag(form.Get("language")); language != nil {
		c.SetCookie(h.cookie(h.languageCookie(), language.Tag, languageLife))
	}
	if back := parseReturnPath(form.Get("return")); back != "" {
		return see(c, back)
	}
	return see(c, "/")
}

// SeeLanguage answers a reload of the switch's address.
func (h *Handlers) SeeLanguage(c echo.Context) error { return see(c, "/") }

// here is the local path of the page, to come back to; that of a form's answer is the page behind its address.
func here(c echo.Context) string {
	r := c.Request()
	if r.Method == http.MethodPost {
		return parseReturnPath(r.URL.EscapedPath())
	}
	return parseReturnPath(r.URL.RequestURI())
}

// say puts a text into the language of the request.
func say(c echo.Context, text string, pairs ...any) string {
	return lang.T(c.Request().Context(), text, pairs...)
}

// translated are texts in the language of the context.
func translated(ctx context.Context, texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = lang.T(ctx, text)
	}
	return out
}
