package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/logo"
	"gatehouse/oauth"
	"gatehouse/templates/lang"
)

// Logos gives the logos of clients; logo.Service is one.
type Logos interface {
	Get(ctx context.Context, of logo.Of) ([]byte, error)
}

// logoPath is where the consent page finds the logo of a client that proved its host; empty for others. The address ends
// with the request, so that it says nothing about the client to anybody.
func logoPath(p *oauth.Prompt) string {
	if p.Client.Kind != oauth.ClientDocument || p.Client.Document == nil || p.Client.LogoURI == "" {
		return ""
	}
	return consentPath(p.RequestID) + "/logo"
}

// ClientLogo sends the logo of the client of a stored request, to the signed-in person who is asked about it.
func (h *Handlers) ClientLogo(c echo.Context) error {
	if _, err := h.requireSession(c); err != nil {
		return echo.ErrNotFound
	}
	ctx := c.Request().Context()
	client, err := h.oauth.ClientOfRequest(ctx, parseRequestID(c.Param("request")))
	if err != nil || client.Kind != oauth.ClientDocument || client.Document == nil {
		return echo.ErrNotFound
	}
	picture, err := h.logos.Get(ctx, logo.Of{ClientID: client.ID, URI: client.LogoURI, FreshUntil: client.Document.FreshUntil})
	if errors.Is(err, logo.ErrNone) {
		return echo.ErrNotFound
	}
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "image/png", picture)
}

// changeWords are members of a client's metadata in the words of the consent page.
var changeWords = map[string]string{
	"redirect_uris":              lang.Text("where answers go"),
	"token_endpoint_auth_method": lang.Text("how it proves itself"),
	"jwks":                       lang.Text("its keys"),
	"client_name":                lang.Text("its name"),
	"logo_uri":                   lang.Text("its logo"),
}

func changedWords(ctx context.Context, members []string) []string {
	var out []string
	for _, m := range members {
		if text, ok := changeWords[m]; ok {
			m = lang.T(ctx, text)
		}
		out = append(out, m)
	}
	return out
}
