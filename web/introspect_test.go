package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gatehouse/oauth"
)

func TestIntrospectionEndpoint(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := s.call(t, http.MethodPost, "/register", `{"redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"client_secret_post"}`, "Content-Type", "application/json").json(t)
	form := url.Values{"client_id": {body["client_id"].(string)}, "client_secret": {body["client_secret"].(string)}, "token": {"unknown"}}
	a := s.postForm(t, "/introspect", form, "Origin", "https://inspector.example")
	if a.status != http.StatusOK || strings.TrimSpace(a.body) != `{"active":false}` || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("IN-2 %d %s", a.status, a.body)
	}
	signed := s.postForm(t, "/introspect/", form, "Accept", oauth.IntrospectionJWT)
	if signed.status != http.StatusOK || signed.header.Get("Content-Type") != oauth.IntrospectionJWT || strings.Count(signed.body, ".") != 2 || signed.header.Get("Cache-Control") != "no-store" {
		t.Errorf("IN-4 %d %v %s", signed.status, signed.header, signed.body)
	}
	form.Set("client_secret", "wrong")
	wrong := s.postForm(t, "/introspect", form, "Origin", "https://inspector.example")
	if wrong.status != http.StatusUnauthorized || wrong.json(t)["error"] != "invalid_client" {
		t.Errorf("IN-1 %d %s", wrong.status, wrong.body)
	}
	get := s.call(t, http.MethodGet, "/introspect", "", "Origin", "https://inspector.example")
	if get.status != http.StatusMethodNotAllowed || get.json(t)["error"] != "invalid_request" {
		t.Errorf("IN-1 GET: %d %s", get.status, get.body)
	}
	preflight := s.call(t, http.MethodOptions, "/introspect", "", "Origin", "https://inspector.example", "Access-Control-Request-Method", "POST")
	below := s.call(t, http.MethodPost, "/introspect/more", "", "Origin", "https://inspector.example")
	for _, a := range []*answer{a, signed, wrong, get, preflight, below} {
		for name := range a.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("§22 the introspection endpoint sends %s", name)
			}
		}
	}
	query := s.call(t, http.MethodPost, "/introspect?token=x", "", "Content-Type", formType)
	if query.status != http.StatusBadRequest {
		t.Errorf("TK-2 token in the URL: %d", query.status)
	}
}
