package oauth

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func asMap(t *testing.T, v any) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(encoded, &m); err != nil {
		t.Fatal(err)
	}
	for name, value := range m {
		if list, ok := value.([]any); value == nil || value == "" || ok && len(list) == 0 {
			t.Errorf("MD-1 member %s is null or empty", name)
		}
	}
	return m
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	const issuer = "https://auth.example.org"
	t.Run("MD-5 content", func(t *testing.T) {
		t.Parallel()
		m := asMap(t, newClientLab(t, func(c *Config) { c.ServiceDocumentation = "https://auth.example.org/docs" }).Metadata())
		for name, want := range map[string]any{
			"issuer":                                issuer,
			"authorization_endpoint":                issuer + "/authorize",
			"token_endpoint":                        issuer + "/token",
			"registration_endpoint":                 issuer + "/register",
			"revocation_endpoint":                   issuer + "/revoke",
			"pushed_authorization_request_endpoint": issuer + "/par",
			"introspection_endpoint":                issuer + "/introspect",
			"jwks_uri":                              issuer + "/.well-known/jwks.json",
			"service_documentation":                 issuer + "/docs",
			"authorization_response_iss_parameter_supported": true, // MD-7
			"client_id_metadata_document_supported":          true, // MD-7
			"request_uri_parameter_supported":                false,
			"request_parameter_supported":                    false,
		} {
			if m[name] != want {
				t.Errorf("%s is %v, want %v", name, m[name], want)
			}
		}
		wantList(t, m["response_types_supported"], "code")
		wantList(t, m["response_modes_supported"], "query")
		wantList(t, m["grant_types_supported"], "authorization_code", "refresh_token")
		wantList(t, m["code_challenge_methods_supported"], "S256")
		wantList(t, m["introspection_endpoint_auth_methods_supported"], "client_secret_basic", "client_secret_post", "private_key_jwt") // IN-1
		wantList(t, m["introspection_endpoint_auth_signing_alg_values_supported"], "RS256", "PS256", "ES256", "EdDSA")
		wantList(t, m["introspection_signing_alg_values_supported"], "ES256") // IN-4
		wantList(t, m["protected_resources"], issuer+"/mcp")
		wantList(t, m["scopes_supported"], "data:read", "data:write", "extra:use", "offline_access")
	})
	t.Run("MD-6 authentication methods are explicit and contain none", func(t *testing.T) {
		t.Parallel()
		m := asMap(t, newClientLab(t).Metadata())
		wantList(t, m["token_endpoint_auth_methods_supported"], "none", "client_secret_basic", "client_secret_post", "private_key_jwt")
		wantList(t, m["revocation_endpoint_auth_methods_supported"], "none", "client_secret_basic", "client_secret_post", "private_key_jwt")
		wantList(t, m["token_endpoint_auth_signing_alg_values_supported"], "RS256", "PS256", "ES256", "EdDSA") // MD-7
		wantList(t, m["revocation_endpoint_auth_signing_alg_values_supported"], "RS256", "PS256", "ES256", "EdDSA")
	})
	t.Run("MD-1 what is not there is not listed", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t, func(c *Config) { c.DynamicRegistration, c.ClientDocuments, c.Fetch = false, false, nil })
		m := asMap(t, lab.Metadata())
		wantList(t, m["token_endpoint_auth_methods_supported"], "none", "client_secret_basic", "client_secret_post")
		for _, name := range []string{
			"registration_endpoint", "client_id_metadata_document_supported", "userinfo_endpoint",
			"device_authorization_endpoint",
			"token_endpoint_auth_signing_alg_values_supported", "introspection_endpoint_auth_signing_alg_values_supported", "service_documentation",
		} {
			if value, found := m[name]; found {
				t.Errorf("%s is %v", name, value)
			}
		}
	})
	t.Run("MD-8 OpenID Connect alias", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		plain, alias := asMap(t, lab.Metadata()), asMap(t, lab.OpenIDConfiguration())
		wantList(t, alias["subject_types_supported"], "public")
		wantList(t, alias["id_token_signing_alg_values_supported"], "ES256")
		wantList(t, alias["code_challenge_methods_supported"], "S256") // PK-6
		if alias["request_uri_parameter_supported"] != false || alias["jwks_uri"] == nil {
			t.Errorf("alias %v", alias)
		}
		for name := range plain {
			if _, found := alias[name]; !found {
				t.Errorf("the alias lacks %s", name)
			}
		}
		if len(alias) != len(plain)+2 {
			t.Errorf("alias has %d members, the plain document %d", len(alias), len(plain))
		}
		rs256 := newClientLab(t, func(c *Config) { c.SigningAlgorithm = "RS256" })
		wantList(t, asMap(t, rs256.OpenIDConfiguration())["id_token_signing_alg_values_supported"], "RS256")
	})
	t.Run("MD-2 one issuer string", func(t *testing.T) {
		t.Parallel()
		lab := newClientLab(t)
		resource, ok := lab.ResourceMetadata(issuer + "/mcp")
		if !ok || lab.Metadata().Issuer != issuer || lab.OpenIDConfiguration().Issuer != issuer || !slices.Equal(resource.AuthorizationServers, []string{issuer}) {
			t.Errorf("issuer differs: %+v", resource)
		}
	})
}

func TestResourceMetadata(t *testing.T) {
	t.Parallel()
	lab := newClientLab(t)
	t.Run("PR-3 content", func(t *testing.T) {
		t.Parallel()
		r, ok := lab.ResourceMetadata("https://auth.example.org/mcp")
		if !ok {
			t.Fatal("not found")
		}
		m := asMap(t, r)
		if m["resource"] != "https://auth.example.org/mcp" || m["resource_name"] != "Example" {
			t.Errorf("PR-2 metadata %v", m)
		}
		wantList(t, m["authorization_servers"], "https://auth.example.org")
		wantList(t, m["bearer_methods_supported"], "header")
		wantList(t, m["scopes_supported"], "data:read", "data:write")
		if _, found := m["jwks_uri"]; found {
			t.Error("jwks_uri belongs to the authorization server")
		}
	})
	t.Run("PR-2 only the exact resource", func(t *testing.T) {
		t.Parallel()
		for _, uri := range []string{"https://auth.example.org/mcp/", "https://auth.example.org", "https://auth.example.org/MCP", ""} {
			if _, ok := lab.ResourceMetadata(uri); ok {
				t.Errorf("found %q", uri)
			}
		}
	})
	t.Run("RT-8 offline_access is not a resource's scope", func(t *testing.T) {
		t.Parallel()
		r, _ := lab.ResourceMetadata("https://auth.example.org/mcp")
		if slices.Contains(r.ScopesSupported, ScopeOfflineAccess) || !slices.Contains(lab.Metadata().ScopesSupported, ScopeOfflineAccess) {
			t.Error("offline_access is in the wrong list")
		}
	})
	t.Run("PR-1 well-known URL", func(t *testing.T) {
		t.Parallel()
		for resource, want := range map[string]string{
			"https://h.example/mcp":          "https://h.example/.well-known/oauth-protected-resource/mcp",
			"http://127.0.0.1:8080/c/x/mcp":  "http://127.0.0.1:8080/.well-known/oauth-protected-resource/c/x/mcp",
			"https://h.example":              "https://h.example/.well-known/oauth-protected-resource",
			"https://h.example/":             "https://h.example/.well-known/oauth-protected-resource",
			"https://h.example/a%2Fb?tenant": "https://h.example/.well-known/oauth-protected-resource/a%2Fb?tenant",
			"urn:x":                          "",
			"%":                              "",
		} {
			if got := ResourceMetadataURL(resource); got != want {
				t.Errorf("ResourceMetadataURL(%q) = %q, want %q", resource, got, want)
			}
		}
	})
	t.Run("BR-7 challenges can quote the URL", func(t *testing.T) {
		t.Parallel()
		if strings.ContainsAny(ResourceMetadataURL("https://h.example/a\"b\\c"), "\"\\") {
			t.Error("quote or backslash in the URL")
		}
	})
}
