package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
)

// freshFor is how long after a sign-in security settings may be changed and administrators may act.
const freshFor = 10 * time.Minute

// requireFresh gives the session of somebody who proved who they are within the last ten minutes, or the error that asks
// for it and comes back. page is the page of ours to come back to after a form: a form is never sent again by itself,
// whoever came back presses the button once more. A page that is only looked at comes back to itself.
func (h *Handlers) requireFresh(c echo.Context, page string) (*account.Session, error) {
	session, err := h.requireSession(c)
	if err != nil {
		return nil, err
	}
	if session.Fresh(h.now(), freshFor) {
		return session, nil
	}
	if c.Request().Method == http.MethodPost {
		page = withDone(page, "confirmed")
	} else {
		page = c.Request().URL.RequestURI()
	}
	return nil, &seeOther{"/signin?" + url.Values{"again": {"1"}, "return": {page}}.Encode()}
}

// withDone adds the word of a notice to a path of ours.
func withDone(path, word string) string {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return path + separator + "done=" + word
}
