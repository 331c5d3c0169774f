package doctor

import (
	"context"
	"net/http"
	"strings"
)

// browserOrigin is the origin of an app that runs in a browser's page: MCP Inspector.
const browserOrigin = "http://localhost:6274"

const mendCORS = "Apps in a browser's page (MCP Inspector, web editors) need it: OPTIONS must be answered before any sign-in, with Access-Control-Allow-Origin, -Methods and -Headers; a proxy must pass it on."

// crossOrigin asks as a page of another site would. None of this stops apps outside a browser.
func (w *walk) crossOrigin(ctx context.Context) {
	documents := []string{w.resourceAt, w.serverAt}
	endpoints := []string{}
	if w.server != nil {
		endpoints = append(endpoints, w.server.TokenEndpoint, w.server.RegistrationEndpoint)
	}
	var p *problem
	for _, at := range documents {
		if p == nil && at != "" {
			a := w.send(ctx, request{method: http.MethodGet, url: at, header: []string{"Origin", browserOrigin}})
			if p = a.transport(); p == nil {
				p = readable(a)
			}
			if p == nil {
				p = w.preflight(ctx, at, http.MethodGet, "mcp-protocol-version")
			}
		}
	}
	w.judge("cors.documents", "Metadata from a browser's page", "readable", p.softened())
	p = nil
	for _, at := range endpoints {
		if p == nil && at != "" {
			p = w.preflight(ctx, at, http.MethodPost, "content-type")
		}
	}
	w.judge("cors.endpoints", "OAuth endpoints from a browser's page", "preflight answered", p.softened())
	w.browserCalls(ctx)
}

// readable is nil when a page of another site may read the answer.
func readable(a *answer) *problem {
	if allow := a.header.Get("Access-Control-Allow-Origin"); allow != "*" && allow != browserOrigin {
		return &problem{finding: "not_allowed", detail: a.url + ": Access-Control-Allow-Origin is " + orNothing(allow), mend: mendCORS}
	}
	return nil
}

// preflight asks for leave to send a header, as browsers do.
func (w *walk) preflight(ctx context.Context, at, method string, headers string) *problem {
	a := w.send(ctx, request{method: http.MethodOptions, url: at, header: []string{"Origin", browserOrigin,
		"Access-Control-Request-Method", method, "Access-Control-Request-Headers", headers}})
	if p := a.transport(); p != nil {
		return p
	}
	if a.status < 200 || a.status > 299 {
		return &problem{finding: "preflight_refused", detail: "OPTIONS " + at + " answers " + a.seen(), mend: mendCORS}
	}
	if p := readable(a); p != nil {
		return p
	}
	allowed := strings.ToLower(strings.Join(a.header.Values("Access-Control-Allow-Headers"), ","))
	for name := range strings.SplitSeq(headers, ",") {
		// The asterisk does not stand for Authorization (Fetch §3.2).
		if !strings.Contains(allowed, name) && (name == "authorization" || !strings.Contains(allowed, "*")) {
			return &problem{finding: "header_not_allowed", detail: "OPTIONS " + at + " does not allow the header " + name, mend: mendCORS}
		}
	}
	return nil
}

// browserCalls asks whether pages of other sites may call the endpoint itself, which is the operator's choice.
func (w *walk) browserCalls(ctx context.Context) {
	const check, title = "cors.mcp", "MCP endpoint from a browser's page"
	p := w.preflight(ctx, w.target, http.MethodPost, "authorization,content-type,mcp-protocol-version")
	if p != nil && p.finding == "not_allowed" {
		w.note(check, title, "not allowed from "+browserOrigin+" (MCP Inspector); GATEHOUSE_ALLOWED_ORIGINS opens it")
		return
	}
	w.judge(check, title, "allowed from "+browserOrigin, p.softened())
}
