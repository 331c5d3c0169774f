package doctor

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

const (
	pathResource = "/.well-known/oauth-protected-resource"
	pathServer   = "/.well-known/oauth-authorization-server"
	pathOpenID   = "/.well-known/openid-configuration"
)

// resourceMetadata is the document of RFC 9728, as far as apps read it.
type resourceMetadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
}

// resourceDocuments reads the resource's metadata where apps look for it: where the challenge says, and at the form with
// the path, which some apps take at once. The root form is the fallback of both.
func (w *walk) resourceDocuments(ctx context.Context) {
	pathForm := w.origin + pathResource + strings.TrimSuffix(w.endpoint.EscapedPath(), "/")
	named := w.challenged.get("resource_metadata")
	if u, err := url.Parse(named); err == nil && named != pathForm && u.Scheme+"://"+u.Host == w.origin {
		w.resourceDocument(ctx, "resource.named", "Resource metadata, where the challenge says", named, false)
	}
	w.resourceDocument(ctx, "resource.path", "Resource metadata, path form", pathForm, w.resource != nil)
	w.rootDocument(ctx)
	if w.resource == nil {
		w.resource = &resourceMetadata{Resource: w.target, AuthorizationServers: []string{w.origin}} // what apps assume then
	}
}

// resourceDocument reads one document. mild says that another one did already.
func (w *walk) resourceDocument(ctx context.Context, check, title, at string, mild bool) {
	var m resourceMetadata
	a := w.get(ctx, at, "")
	w.discovery += a.took
	p := a.document(&m)
	if p == nil {
		p = w.judgeResource(&m)
		if w.resource == nil && len(m.AuthorizationServers) > 0 && m.AuthorizationServers[0] != "" {
			w.resource, w.resourceAt = &m, at
		}
	}
	if mild {
		p = p.softened()
	}
	if w.judge(check, title, "resource "+m.Resource, p) {
		w.slashedDocument(ctx, at)
	}
}

func (w *walk) judgeResource(m *resourceMetadata) *problem {
	u, err := url.Parse(m.Resource)
	switch {
	case m.Resource == w.target:
	case m.Resource == "":
		return &problem{finding: "no_resource", detail: "the member resource is missing", mend: "Name the endpoint's URL in it, exactly as people paste it."}
	case err != nil || u.Host == "":
		return &problem{finding: "wrong_resource", detail: "resource is not a URL: " + m.Resource, mend: mendPublicURL}
	case u.Scheme+"://"+u.Host != w.origin:
		return w.elsewhere("resource is "+m.Resource, u)
	case strings.TrimSuffix(m.Resource, "/") == strings.TrimSuffix(w.target, "/"):
		return &problem{finding: "wrong_slash", detail: fmt.Sprintf("resource is %s, the URL is %s", m.Resource, w.target), mend: "Use the URL in the app exactly as resource has it: apps compare byte for byte."}
	default:
		return &problem{finding: "wrong_resource", detail: fmt.Sprintf("resource is %s, the URL is %s", m.Resource, w.target), mend: "Paste the URL that resource names; apps compare byte for byte."}
	}
	if len(m.AuthorizationServers) == 0 || m.AuthorizationServers[0] == "" {
		return &problem{finding: "no_server", detail: "authorization_servers is empty", mend: "Name the issuer of the authorization server in it."}
	}
	if len(m.BearerMethods) > 0 && !slices.Contains(m.BearerMethods, "header") {
		return &problem{finding: "no_header_method", detail: "bearer_methods_supported lacks header", mend: "List header; apps send tokens in no other way."}
	}
	return nil
}

// rootDocument looks at the fallback, which may be missing but must not mislead.
func (w *walk) rootDocument(ctx context.Context) {
	const check, title = "resource.root", "Resource metadata, root form"
	var m resourceMetadata
	p := w.get(ctx, w.origin+pathResource, "").document(&m)
	if p != nil && p.finding == "missing" {
		w.note(check, title, "not there; apps need it only while the path form is missing")
		return
	}
	w.judge(check, title, "resource "+m.Resource, p.softened())
}

// slashedDocument looks at a document's address with a slash behind it: apps build it from a URL with one.
func (w *walk) slashedDocument(ctx context.Context, at string) {
	a := w.get(ctx, at+"/", "")
	if a.err == nil && a.status >= 300 && a.status < 400 {
		w.judge("resource.slash", "Resource metadata with a trailing slash", "", a.redirect().softened())
	}
}

// strayDocument looks at a well-known path where nothing may be. Sites that answer every path with a page or with the
// root's document mislead apps that try several paths.
func (w *walk) strayDocument(ctx context.Context) {
	const check, title = "stray", "Other well-known paths"
	a := w.get(ctx, w.origin+pathServer+"/gatehouse-doctor", "")
	p := a.transport()
	if p == nil && a.status != 404 {
		p = &problem{finding: "answers", detail: a.url + " answers " + a.seen(), mend: "Paths below /.well-known/ that are not served must get 404, not a page or another path's document."}
	}
	w.judge(check, title, "404", p.softened())
}
