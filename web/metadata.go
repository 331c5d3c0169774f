package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/oauth"
)

// document is a JSON document ready to send.
type document struct {
	body []byte
	etag string
}

func newDocument(body []byte) document {
	sum := sha256.Sum256(body)
	return document{body: body, etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// documents are the published documents that depend on the configuration alone, so they are encoded once. Those of the
// authorization server follow the policies and are encoded for each request.
type documents struct {
	resources map[string]document // by path after the well-known prefix
}

func newDocuments(server *oauth.Server) (*documents, error) {
	d := &documents{resources: map[string]document{}}
	for i, r := range server.Resources() {
		metadata, _ := server.ResourceMetadata(r.URI)
		doc, err := encodeDocument(metadata)
		if err != nil {
			return nil, err
		}
		u, err := url.Parse(r.URI)
		if err != nil {
			return nil, fmt.Errorf("resource %q: %w", r.URI, err)
		}
		d.resources[strings.TrimSuffix(u.Path, "/")] = doc
		if i == 0 {
			d.resources[""] = doc // the bare path answers for the default resource
		}
	}
	return d, nil
}

func encodeDocument(v any) (document, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return document{}, fmt.Errorf("encode metadata: %w", err)
	}
	return newDocument(body), nil
}

// ServerMetadata serves RFC 8414.
func (h *Handlers) ServerMetadata(c echo.Context) error {
	h.note(c, Event{Step: StepServerMetadata, OK: true})
	return encodeAndSend(c, h.oauth.CurrentMetadata(c.Request().Context()))
}

// OpenIDConfiguration serves the same under OpenID Connect's name.
func (h *Handlers) OpenIDConfiguration(c echo.Context) error {
	h.note(c, Event{Step: StepServerMetadata, OK: true, Detail: "openid-configuration"})
	return encodeAndSend(c, h.oauth.CurrentOpenIDConfiguration(c.Request().Context()))
}

// ResourceMetadata serves RFC 9728: the well-known path, then the resource's own path.
func (h *Handlers) ResourceMetadata(c echo.Context) error {
	path := strings.TrimSuffix(strings.TrimPrefix(c.Request().URL.Path, oauth.PathResourceMetadata), "/")
	doc, ok := h.documents.resources[path]
	if !ok {
		return echo.ErrNotFound
	}
	h.note(c, Event{Step: StepResourceMetadata, OK: true})
	return sendDocument(c, doc)
}

// JWKS serves the public keys.
func (h *Handlers) JWKS(c echo.Context) error {
	body, err := h.oauth.JWKS(c.Request().Context())
	if err != nil {
		return err
	}
	return sendDocument(c, newDocument(body))
}

// NoDocument answers for all other well-known paths. A document of another path in their place would make strict clients
// stop on the issuer.
func (h *Handlers) NoDocument(echo.Context) error { return echo.ErrNotFound }

func encodeAndSend(c echo.Context, v any) error {
	d, err := encodeDocument(v)
	if err != nil {
		return err
	}
	return sendDocument(c, d)
}

func sendDocument(c echo.Context, d document) error {
	header := c.Response().Header()
	header.Set("Cache-Control", "public, max-age=300")
	header.Set("ETag", d.etag)
	if matchesETag(c.Request().Header.Get("If-None-Match"), d.etag) {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, d.body)
}

// matchesETag compares weakly, as If-None-Match asks (RFC 9110 §13.1.2).
func matchesETag(header, etag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag {
			return true
		}
	}
	return false
}
