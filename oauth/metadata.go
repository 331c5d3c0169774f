package oauth

// Published metadata: RFC 8414 §2 (authorization server), OpenID Connect Discovery §3 (the same under another name),
// RFC 9728 §2 (protected resources), RFC 9207 §3 (iss), RFC 9449 §5.1 (DPoP), draft-ietf-oauth-client-id-metadata-document §6. Only what works
// is listed; members without a value are absent.

import (
	"net/url"
	"slices"
)

// Paths of the endpoints below the issuer.
const (
	PathAuthorize  = "/authorize"
	PathToken      = "/token"
	PathRegister   = "/register"
	PathRevoke     = "/revoke"
	PathPush       = "/par"
	PathIntrospect = "/introspect"
	PathUserInfo   = "/userinfo"
	PathJWKS       = "/.well-known/jwks.json"

	// PathServerMetadata and PathOpenIDConfiguration are where Metadata and OpenIDConfiguration are served.
	PathServerMetadata      = "/.well-known/oauth-authorization-server"
	PathOpenIDConfiguration = "/.well-known/openid-configuration"
	// PathResourceMetadata is put between host and path of a resource (RFC 9728 §3.1).
	PathResourceMetadata = "/.well-known/oauth-protected-resource"
)

// ServerMetadata is the document of RFC 8414. Send it with Cache-Control: public, max-age=300.
type ServerMetadata struct {
	Issuer                                    string   `json:"issuer"`
	AuthorizationEndpoint                     string   `json:"authorization_endpoint"`
	TokenEndpoint                             string   `json:"token_endpoint"`
	JWKSURI                                   string   `json:"jwks_uri"`
	RegistrationEndpoint                      string   `json:"registration_endpoint,omitempty"`
	RevocationEndpoint                        string   `json:"revocation_endpoint"`
	PushedAuthorizationRequestEndpoint        string   `json:"pushed_authorization_request_endpoint"`
	IntrospectionEndpoint                     string   `json:"introspection_endpoint"`
	DeviceAuthorizationEndpoint               string   `json:"device_authorization_endpoint,omitempty"`
	IntrospectionEndpointAuthMethodsSupported []string `json:"introspection_endpoint_auth_methods_supported"`
	IntrospectionSigningAlgValuesSupported    []string `json:"introspection_signing_alg_values_supported"`
	ScopesSupported                           []string `json:"scopes_supported,omitempty"`
	ResponseTypesSupported                    []string `json:"response_types_supported"`
	ResponseModesSupported                    []string `json:"response_modes_supported"`
	GrantTypesSupported                       []string `json:"grant_types_supported"`
	AuthorizationGrantProfilesSupported       []string `json:"authorization_grant_profiles_supported,omitempty"`
	TokenEndpointAuthMethodsSupported         []string `json:"token_endpoint_auth_methods_supported"`
	RevocationEndpointAuthMethodsSupported    []string `json:"revocation_endpoint_auth_methods_supported"`
	// The algorithms stand beside each list of methods that has private_key_jwt (RFC 8414 §2).
	TokenEndpointAuthSigningAlgValuesSupported         []string `json:"token_endpoint_auth_signing_alg_values_supported,omitempty"`
	RevocationEndpointAuthSigningAlgValuesSupported    []string `json:"revocation_endpoint_auth_signing_alg_values_supported,omitempty"`
	IntrospectionEndpointAuthSigningAlgValuesSupported []string `json:"introspection_endpoint_auth_signing_alg_values_supported,omitempty"`

	// AuthorizationDetailsTypesSupported is that of RFC 9396 §10, the grant management members those of draft-03 §7.
	AuthorizationDetailsTypesSupported []string `json:"authorization_details_types_supported,omitempty"`
	GrantManagementEndpoint            string   `json:"grant_management_endpoint,omitempty"`
	GrantManagementActionsSupported    []string `json:"grant_management_actions_supported"`

	CodeChallengeMethodsSupported              []string `json:"code_challenge_methods_supported"`
	AuthorizationResponseISSParameterSupported bool     `json:"authorization_response_iss_parameter_supported"`
	ClientIDMetadataDocumentSupported          bool     `json:"client_id_metadata_document_supported,omitempty"`
	DPoPSigningAlgValuesSupported              []string `json:"dpop_signing_alg_values_supported"`
	// ACRValuesSupported are the strengths of a sign-in (RFC 9470 §7).
	ACRValuesSupported []string `json:"acr_values_supported,omitempty"`
	// RequestParameterSupported and RequestURIParameterSupported are stated because OpenID Connect has true as the default
	// of the second.
	RequestParameterSupported    bool     `json:"request_parameter_supported"`
	RequestURIParameterSupported bool     `json:"request_uri_parameter_supported"`
	ProtectedResources           []string `json:"protected_resources,omitempty"`
	ServiceDocumentation         string   `json:"service_documentation,omitempty"`
}

// OpenIDMetadata is the same document with what parsers of OpenID Connect Discovery demand besides.
type OpenIDMetadata struct {
	ServerMetadata
	UserInfoEndpoint                 string   `json:"userinfo_endpoint,omitempty"`
	SubjectTypesSupported            []string `json:"subject_types_supported"`
	IDTokenSigningAlgValuesSupported []string `json:"id_token_signing_alg_values_supported"`
	ClaimsSupported                  []string `json:"claims_supported,omitempty"`
	PromptValuesSupported            []string `json:"prompt_values_supported,omitempty"`
}

// ResourceMetadata is the document of RFC 9728.
type ResourceMetadata struct {
	Resource               string   `json:"resource"`
	AuthorizationServers   []string `json:"authorization_servers"`
	ScopesSupported        []string `json:"scopes_supported,omitempty"`
	BearerMethodsSupported []string `json:"bearer_methods_supported"`
	ResourceName           string   `json:"resource_name,omitempty"`
	// DPoPSigningAlgValuesSupported says that bound tokens are understood; they are never demanded.
	DPoPSigningAlgValuesSupported []string `json:"dpop_signing_alg_values_supported"`
}

// Metadata returns the authorization server's metadata. All URLs come from the configured issuer.
func (s *Server) Metadata() *ServerMetadata {
	methods := s.authMethods() // none comes first
	m := &ServerMetadata{
		Issuer:                             s.cfg.Issuer,
		AuthorizationEndpoint:              s.cfg.Issuer + PathAuthorize,
		TokenEndpoint:                      s.cfg.Issuer + PathToken,
		JWKSURI:                            s.cfg.Issuer + PathJWKS,
		RevocationEndpoint:                 s.cfg.Issuer + PathRevoke,
		PushedAuthorizationRequestEndpoint: s.cfg.Issuer + PathPush,
		IntrospectionEndpoint:              s.cfg.Issuer + PathIntrospect,
		IntrospectionEndpointAuthMethodsSupported:  methods[1:],
		IntrospectionSigningAlgValuesSupported:     []string{s.signingAlgorithm()},
		ScopesSupported:                            s.supportedScopes(),
		ResponseTypesSupported:                     []string{"code"},
		ResponseModesSupported:                     []string{"query"},
		GrantTypesSupported:                        s.grantTypes(),
		TokenEndpointAuthMethodsSupported:          methods,
		RevocationEndpointAuthMethodsSupported:     methods,
		CodeChallengeMethodsSupported:              []string{ChallengeS256},
		AuthorizationResponseISSParameterSupported: true,
		ClientIDMetadataDocumentSupported:          s.cfg.ClientDocuments,
		DPoPSigningAlgValuesSupported:              ProofAlgorithms(),
		ACRValuesSupported:                         s.cfg.ACRValues,
		ServiceDocumentation:                       s.cfg.ServiceDocumentation,
	}
	m.AuthorizationDetailsTypesSupported = s.detailTypes()
	m.GrantManagementActionsSupported = s.grantActions()
	if s.managesGrants(ScopeGrantQuery) || s.managesGrants(ScopeGrantRevoke) {
		m.GrantManagementEndpoint = s.cfg.Issuer + PathGrants
	}
	if s.usesKeys() {
		algorithms := assertionAlgorithmNames()
		m.TokenEndpointAuthSigningAlgValuesSupported = algorithms
		m.RevocationEndpointAuthSigningAlgValuesSupported = algorithms
		m.IntrospectionEndpointAuthSigningAlgValuesSupported = algorithms
	}
	if s.cfg.DynamicRegistration {
		m.RegistrationEndpoint = s.cfg.Issuer + PathRegister
	}
	if s.devicesOn() {
		m.DeviceAuthorizationEndpoint = s.cfg.Issuer + PathDeviceAuthorization
	}
	if s.assertionsOn() {
		m.AuthorizationGrantProfilesSupported = []string{profileIDJAG}
	}
	for _, r := range s.cfg.Resources {
		m.ProtectedResources = append(m.ProtectedResources, r.URI)
	}
	return m
}

// supportedScopes lists the scopes of all resources, and offline_access, which resources never list.
func (s *Server) supportedScopes() []string {
	var scopes []string
	for _, r := range s.cfg.Resources {
		for _, scope := range r.Scopes {
			if !slices.Contains(scopes, scope.Name) {
				scopes = append(scopes, scope.Name)
			}
		}
	}
	return append(scopes, ScopeOfflineAccess)
}

// OpenIDConfiguration returns the metadata for clients that look under the name of OpenID Connect Discovery. Their
// parsers demand the added members, also while OpenID Connect is off; then no ID token is issued, and openid is not among
// the scopes.
func (s *Server) OpenIDConfiguration() *OpenIDMetadata {
	m := &OpenIDMetadata{
		ServerMetadata:                   *s.Metadata(),
		SubjectTypesSupported:            []string{"public"},
		IDTokenSigningAlgValuesSupported: []string{s.signingAlgorithm()},
	}
	if s.cfg.OpenID {
		m.UserInfoEndpoint = s.cfg.Issuer + PathUserInfo
		m.IDTokenSigningAlgValuesSupported = s.idTokenAlgorithms()
		m.ClaimsSupported = supportedClaims()
		m.PromptValuesSupported = []string{"none", "login", "consent"}
	}
	return m
}

func (s *Server) signingAlgorithm() string {
	if s.cfg.SigningAlgorithm == "" {
		return algES256
	}
	return s.cfg.SigningAlgorithm
}

// ResourceMetadata returns the metadata of the resource with exactly this URI.
func (s *Server) ResourceMetadata(uri string) (*ResourceMetadata, bool) {
	for i := range s.cfg.Resources {
		r := &s.cfg.Resources[i]
		if r.URI == uri {
			return &ResourceMetadata{
				Resource:                      r.URI,
				AuthorizationServers:          []string{s.cfg.Issuer},
				ScopesSupported:               r.baseline(),
				BearerMethodsSupported:        []string{"header"},
				ResourceName:                  r.Name,
				DPoPSigningAlgValuesSupported: ProofAlgorithms(),
			}, true
		}
	}
	return nil, false
}

// ResourceMetadataURL returns where the metadata of a resource is published: the well-known path goes between host and
// path (RFC 9728 §3.1). It is "" for something that is not a URL.
func ResourceMetadataURL(resource string) string {
	u, err := url.Parse(resource)
	if err != nil || u.Host == "" {
		return ""
	}
	path := u.EscapedPath()
	if path == "/" {
		path = ""
	}
	location := u.Scheme + "://" + u.Host + PathResourceMetadata + path
	if u.RawQuery != "" {
		location += "?" + u.RawQuery
	}
	return location
}
