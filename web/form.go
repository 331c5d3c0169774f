package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"gatehouse/oauth"
)

// Limits of what a request may carry.
const (
	maxBody  = 64 << 10
	maxQuery = 8 << 10
)

// readBody reads a request body up to the limit.
func readBody(c echo.Context) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, oauth.RequestTooLarge()
	}
	if err != nil {
		return nil, oauth.InvalidRequest("The request body could not be read.").WithCause(err)
	}
	return body, nil
}

// hasMediaType reports whether the request's body is of the type.
func hasMediaType(r *http.Request, want string) bool {
	got, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	return err == nil && got == want
}

// readForm reads the body's form once. The query has no part in it.
func readForm(c echo.Context) (url.Values, error) {
	if !hasMediaType(c.Request(), echo.MIMEApplicationForm) {
		return nil, oauth.InvalidRequest("The body must be application/x-www-form-urlencoded.").WithCheck("content_type")
	}
	body, err := readBody(c)
	if err != nil {
		return nil, err
	}
	return parseParameters(string(body))
}

// readQuery reads the query's parameters.
func readQuery(r *http.Request) (url.Values, error) {
	if len(r.URL.RawQuery) > maxQuery {
		return nil, oauth.InvalidRequest("The query is too long.").WithCheck("query")
	}
	return parseParameters(r.URL.RawQuery)
}

// parseParameters parses a query or form. Values that are not text are refused: they could not be stored and given back
// byte for byte.
func parseParameters(encoded string) (url.Values, error) {
	values, err := url.ParseQuery(encoded)
	if err != nil {
		return nil, oauth.InvalidRequest("The parameters are not properly encoded.").WithCheck("encoding")
	}
	for name, list := range values {
		if !isText(name) || slices.ContainsFunc(list, func(v string) bool { return !isText(v) }) {
			return nil, oauth.InvalidRequest("A parameter is not UTF-8 text.").WithCheck("encoding")
		}
	}
	return values, nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// backChannelParameters may not stand in a URL: URLs end up in logs (OAuth 2.1 §2.4.1).
var backChannelParameters = []string{
	"client_secret", "client_assertion", "client_id", "code", "code_verifier", "refresh_token", "token", "grant_type",
	"device_code", "assertion",
}

// backChannelRequest is a request to the token or revocation endpoint, read once.
type backChannelRequest struct {
	form url.Values
	auth oauth.ClientAuthentication
}

func readBackChannel(c echo.Context) (*backChannelRequest, error) {
	r := c.Request()
	query, err := readQuery(r)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(backChannelParameters, query.Has) {
		return nil, oauth.InvalidRequest("Parameters belong into the body, not into the URL.").WithCheck("query")
	}
	form, err := readForm(c)
	if err != nil {
		return nil, err
	}
	form["resource"] = slices.DeleteFunc(form["resource"], func(v string) bool { return v == "" })
	headers := r.Header.Values(echo.HeaderAuthorization)
	if len(headers) > 1 {
		return nil, oauth.InvalidRequest("The request has more than one Authorization header.").WithCheck("client_auth_method")
	}
	return &backChannelRequest{form: form, auth: clientAuthentication(form, headers)}, nil
}

func clientAuthentication(form url.Values, headers []string) oauth.ClientAuthentication {
	auth := oauth.ClientAuthentication{
		ClientID: form.Get("client_id"), ClientSecret: form.Get("client_secret"), HasSecret: form.Has("client_secret"),
		AssertionType: form.Get("client_assertion_type"), Assertion: form.Get("client_assertion"),
	}
	if len(headers) == 1 {
		auth.HasAuthorization, auth.Authorization = true, headers[0]
	}
	return auth
}
