package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// Policies of pages. No inline style or script exists, so none is allowed.
const (
	basePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
	// A page whose form POST can end at a client must not name form-action: browsers test every hop of the redirects
	// against it, and a client's callback may hop on to a scheme of its own. The failure would be silent.
	pagePolicy = basePolicy + "; form-action 'self'"
)

// prepare sets the headers that every answer of a kind carries, also its errors.
func (h *Handlers) prepare(c echo.Context, kind Kind) {
	header := c.Response().Header()
	header.Set("X-Content-Type-Options", "nosniff")
	if h.https {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	switch kind {
	case Document:
		crossOrigin(header, "ETag")
	case BackChannel:
		crossOrigin(header, "DPoP-Nonce, WWW-Authenticate, Retry-After")
		noStore(header)
	case ServerChannel:
		noStore(header)
	case Page, ClientPage:
		pageHeaders(header, kind)
		h.speak(c)
	}
}

func pageHeaders(header http.Header, kind Kind) {
	noStore(header)
	policy := pagePolicy
	if kind == ClientPage {
		policy = basePolicy
	}
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Frame-Options", "DENY")
	// no-referrer would make browsers send "Origin: null" with the page's own forms, which the origin check refuses.
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}

// noStore keeps tokens, codes and personal data out of caches, old ones included.
func noStore(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("Pragma", "no-cache")
}

// crossOrigin lets every site read the answer. There are no cookies on these paths, so there is nothing to borrow, and
// Access-Control-Allow-Credentials is never sent.
func crossOrigin(header http.Header, expose string) {
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Expose-Headers", expose)
}

// preflight names Authorization, since * does not cover it, and MCP-Protocol-Version, which clients send even to the
// metadata documents.
func preflight(header http.Header, methods string) {
	header.Set("Access-Control-Allow-Methods", methods)
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, DPoP, MCP-Protocol-Version")
	header.Set("Access-Control-Max-Age", "86400")
}
