package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"gatehouse/templates/lang"
)

// Two layers keep other sites from posting our forms: the origin, which browsers tell (Sec-Fetch-Site, else Origin), and
// a token in every form, which is bound to the browser's cookie and to the form's purpose. The token is a MAC under the
// cookie's secret, so nothing has to be stored, and it gives nothing of the secret away.

func (v *visit) formToken(purpose string) string {
	mac := hmac.New(sha256.New, []byte(v.secret))
	mac.Write([]byte("form " + purpose))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// readPost reads a page's form, once it is sure that our own page sent it.
func (h *Handlers) readPost(c echo.Context, purpose string) (url.Values, error) {
	if err := h.crossOrigin.Check(c.Request()); err != nil {
		return nil, foreignForm(err)
	}
	form, err := readForm(c)
	if err != nil {
		return nil, err
	}
	v := visitOf(c)
	want := v.formToken(purpose)
	if v.secret == "" || subtle.ConstantTimeCompare([]byte(form.Get("csrf")), []byte(want)) != 1 {
		return nil, foreignForm(nil)
	}
	return form, nil
}

func foreignForm(cause error) error {
	return &PageError{
		Status: http.StatusForbidden, Title: lang.Text("This form has expired"), Cause: cause,
		What:   lang.Text("Nothing was changed."),
		Why:    lang.Text("The form was opened before you signed in or out, or another site sent it."),
		Advice: []string{lang.Text("Go back, load the page again, and repeat what you did.")},
	}
}
