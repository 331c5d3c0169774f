package doctor

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// serverMetadata is the document of RFC 8414, as far as apps read it.
type serverMetadata struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	Scopes                []string `json:"scopes_supported"`
	ResponseTypes         []string `json:"response_types_supported"`
	GrantTypes            []string `json:"grant_types_supported"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	SendsIssuer           bool     `json:"authorization_response_iss_parameter_supported"`
	ClientDocuments       bool     `json:"client_id_metadata_document_supported"`

	JWKSURI            string   `json:"jwks_uri"`
	SubjectTypes       []string `json:"subject_types_supported"`
	IDTokenSigningAlgs []string `json:"id_token_signing_alg_values_supported"`
}

// serverDocuments reads the authorization server's metadata under both names.
func (w *walk) serverDocuments(ctx context.Context) {
	issuer := w.resource.AuthorizationServers[0]
	at, err := url.Parse(issuer)
	if err != nil || at.Host == "" {
		w.judge("server.oauth", "Server metadata", "", &problem{finding: "wrong_issuer", detail: "authorization_servers names " + issuer + ", which is no URL", mend: mendPublicURL})
		return
	}
	origin, path := at.Scheme+"://"+at.Host, strings.TrimSuffix(at.EscapedPath(), "/")
	oauth, p := w.serverDocument(ctx, origin+pathServer+path)
	openIDAt := origin + pathOpenID + path
	openID, p2 := w.serverDocument(ctx, openIDAt)
	if p2 != nil && p2.finding == "missing" && path != "" {
		openIDAt = origin + path + pathOpenID
		openID, p2 = w.serverDocument(ctx, openIDAt)
	}
	switch {
	case p == nil:
		w.server, w.serverAt = oauth, origin+pathServer+path
		w.ok("server.oauth", "Server metadata", w.serverAt)
	case p.finding == "missing" && p2 == nil:
		w.server, w.serverAt = openID, openIDAt
		w.note("server.oauth", "Server metadata", "only as openid-configuration")
	default:
		w.judge("server.oauth", "Server metadata", "", p)
	}
	if p2 != nil && p2.finding == "missing" && p == nil {
		w.note("server.openid", "Server metadata as openid-configuration", "not there; apps take the other")
	} else {
		if p2 == nil {
			p2 = judgeOpenID(openID, w.server)
		}
		w.judge("server.openid", "Server metadata as openid-configuration", "complete, the same endpoints", p2)
	}
	if w.server != nil {
		w.judgeServer(issuer)
	}
}

func (w *walk) serverDocument(ctx context.Context, at string) (*serverMetadata, *problem) {
	var m serverMetadata
	a := w.get(ctx, at, "")
	if w.server == nil && !strings.Contains(at, pathOpenID) {
		w.discovery += a.took
	}
	return &m, a.document(&m)
}

// judgeOpenID holds a document that is there against what parsers of OpenID Connect Discovery demand.
func judgeOpenID(m, other *serverMetadata) *problem {
	var lacking []string
	for name, there := range map[string]bool{
		"jwks_uri": m.JWKSURI != "", "subject_types_supported": len(m.SubjectTypes) > 0,
		"id_token_signing_alg_values_supported": len(m.IDTokenSigningAlgs) > 0,
	} {
		if !there {
			lacking = append(lacking, name)
		}
	}
	slices.Sort(lacking)
	switch {
	case len(lacking) > 0:
		return &problem{finding: "incomplete", detail: "it lacks " + strings.Join(lacking, ", "), mend: "Serve it complete, or answer 404: the parsers of apps stop on it."}
	case other != nil && (m.Issuer != other.Issuer || m.AuthorizationEndpoint != other.AuthorizationEndpoint || m.TokenEndpoint != other.TokenEndpoint):
		return &problem{finding: "differs", detail: "issuer or endpoints are not those of the other document", mend: "Serve the same values under both names: ChatGPT reads this one, others that one."}
	}
	return nil
}

// judgeServer judges what the document says.
func (w *walk) judgeServer(issuer string) {
	m := w.server
	w.judge("server.issuer", "Issuer", m.Issuer, w.judgeIssuer(issuer))
	w.judge("server.endpoints", "Endpoints", "authorization and token endpoint are there", w.judgeEndpoints())
	w.judge("server.pkce", "PKCE", "S256", lacks(m.ChallengeMethods, "S256", "code_challenge_methods_supported",
		"List S256: Claude never opens the browser without it, others refuse."))
	w.judge("server.methods", "Apps without a secret", "none is among the methods", lacks(m.AuthMethods, "none", "token_endpoint_auth_methods_supported",
		"List none: without it Claude does not use its client document, and others ask for a secret."))
	w.judge("server.grants", "Grants", "code, refresh", w.judgeGrants())
	w.judge("server.iss", "Issuer in the answer", "authorization_response_iss_parameter_supported", w.judgeIss())
	w.judge("server.registration", "Ways to register", w.waysToRegister(), w.judgeRegistration())
}

func lacks(list []string, value, member, mend string) *problem {
	switch {
	case list == nil:
		return &problem{finding: "absent", detail: member + " is missing", mend: mend}
	case !slices.Contains(list, value):
		return &problem{finding: "lacking", detail: member + " is " + strings.Join(list, ", ") + ", without " + value, mend: mend}
	}
	return nil
}

func (w *walk) judgeIssuer(want string) *problem {
	if got := w.server.Issuer; got != want {
		return &problem{finding: "differs", detail: fmt.Sprintf("issuer is %s, authorization_servers names %s", orNothing(got), want),
			mend: "Both must be the same byte for byte, slashes included; apps stop on any difference. " + mendPublicURL}
	}
	return nil
}

func (w *walk) judgeEndpoints() *problem {
	for _, e := range []struct {
		member, value string
		needed        bool
	}{
		{"authorization_endpoint", w.server.AuthorizationEndpoint, true},
		{"token_endpoint", w.server.TokenEndpoint, true},
		{"registration_endpoint", w.server.RegistrationEndpoint, false},
	} {
		u, err := url.Parse(e.value)
		switch {
		case e.value == "" && !e.needed:
		case e.value == "":
			return &problem{finding: "absent", detail: e.member + " is missing", mend: "Name it in the metadata."}
		case err != nil || u.Host == "":
			return &problem{finding: "relative", detail: e.member + " is not an absolute URL: " + e.value, mend: mendPublicURL}
		case u.Scheme != "https" && !(w.endpoint.Scheme == "http" && isLoopback(u.Hostname())):
			return &problem{finding: "plain_http", detail: e.member + " is " + e.value, mend: "It must be https. " + mendPublicURL}
		}
	}
	return nil
}

func (w *walk) judgeGrants() *problem {
	m := w.server
	if p := lacks(m.ResponseTypes, "code", "response_types_supported", "List code; the SDKs read it unguarded."); p != nil {
		return p
	}
	if m.GrantTypes == nil { // the default holds authorization_code (RFC 8414 §2)
		return nil
	}
	if p := lacks(m.GrantTypes, "authorization_code", "grant_types_supported", "List authorization_code."); p != nil {
		return p
	}
	return lacks(m.GrantTypes, "refresh_token", "grant_types_supported", "List refresh_token, or people sign in again whenever a token ends.").softened()
}

func (w *walk) judgeIss() *problem {
	if w.server.SendsIssuer {
		return nil
	}
	return &problem{finding: "absent", mild: true, detail: "authorization_response_iss_parameter_supported is not true",
		mend: "Send iss with every authorization answer and say so (RFC 9207): Gemini CLI refuses answers without it, ChatGPT needs another client document."}
}

func (w *walk) waysToRegister() string {
	var ways []string
	if w.server.ClientDocuments {
		ways = append(ways, "client documents")
	}
	if w.server.RegistrationEndpoint != "" {
		ways = append(ways, "dynamic registration")
	}
	return strings.Join(ways, ", ")
}

func (w *walk) judgeRegistration() *problem {
	switch {
	case w.waysToRegister() == "":
		return &problem{finding: "none", detail: "neither registration_endpoint nor client_id_metadata_document_supported",
			mend: "Turn one on (GATEHOUSE_DYNAMIC_REGISTRATION, GATEHOUSE_CLIENT_DOCUMENTS), or enter each app by hand: gatehouse client add."}
	case w.server.RegistrationEndpoint == "":
		return &problem{finding: "documents_only", mild: true, detail: "there is no registration_endpoint", mend: "Apps without a client document cannot register (mcp-remote, Gemini CLI). Turn GATEHOUSE_DYNAMIC_REGISTRATION on for them."}
	}
	return nil
}
