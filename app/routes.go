package app

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// routes lists every path that the server answers. The pages and the OAuth endpoints are listed in web/routes.go.
func (a *App) routes(e *echo.Echo) {
	e.GET("/healthz", a.Healthz)
	e.HEAD("/healthz", a.Healthz)
	e.GET("/readyz", a.Readyz)
	e.HEAD("/readyz", a.Readyz)

	mcp := echo.WrapHandler(a.endpoint)
	e.Any("/mcp", mcp)
	e.Any("/mcp/", mcp) // not a redirect: that would turn a POST into a GET

	a.web.Register(e)
}

// newEcho makes the router with its middleware, outermost first.
func (a *App) newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = a.ipExtractor()
	e.HTTPErrorHandler = a.web.HandleError
	e.Use(requestID, a.identifyCaller, logRequests(a.log), recoverPanics(a.log))
	return e
}

// ipExtractor reads forwarding headers only from the configured proxies: everybody else could write what they like.
func (a *App) ipExtractor() echo.IPExtractor {
	if len(a.set.proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, n := range a.set.proxies {
		trust = append(trust, echo.TrustIPRange(n))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}

func (a *App) address(r *http.Request) string { return a.echo.IPExtractor(r) }
