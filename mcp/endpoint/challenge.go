package endpoint

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gatehouse/mcp"
	"gatehouse/oauth"
)

// challenge is the WWW-Authenticate value of a 401 or 400: RFC 6750 §3, RFC 9728 §5.1. Bearer comes first and every
// value is quoted and free of quotes, since some clients neither look past the first scheme nor unescape (BR-7). error
// stands only where a token was sent (BR-1).
func (e *Endpoint) challenge(code, description string) string {
	return e.buildChallenge(code, description, e.cfg.Profile.ChallengeScope)
}

// buildChallenge takes further parameters as pairs of name and value.
func (e *Endpoint) buildChallenge(code, description, scope string, more ...string) string {
	var b strings.Builder
	b.WriteString("Bearer")
	sep := " "
	add := func(name, value string) {
		if value != "" {
			b.WriteString(sep + name + `="` + oauth.CleanDescription(value) + `"`)
			sep = ", "
		}
	}
	add("error", code)
	add("error_description", description)
	add("resource_metadata", e.cfg.Profile.MetadataURL)
	add("scope", scope)
	for i := 0; i+1 < len(more); i += 2 {
		add(more[i], more[i+1])
	}
	return b.String()
}

// ScopeRefusal is the 403 for an operation that needs more scopes than the caller holds: RFC 6750 §3.1 and MCP's scope
// challenge. scope names all the scopes the operation needs at once (BR-3).
// A call with a bound token gets a DPoP challenge with the same error besides (RFC 9449 §7.1).
func (e *Endpoint) ScopeRefusal(ctx context.Context, scope string) *mcp.HTTPRefusal {
	const text = "This operation needs more permissions than the connection has."
	h := http.Header{}
	h.Set("WWW-Authenticate", e.buildChallenge("insufficient_scope", text, scope))
	if cameBound(ctx) {
		h.Add("WWW-Authenticate", `DPoP error="insufficient_scope", error_description="`+text+`", scope="`+oauth.CleanDescription(scope)+`", `+proofAlgorithms())
	}
	return &mcp.HTTPRefusal{Status: http.StatusForbidden, Header: h, Code: mcp.CodeInvalidRequest, Message: text}
}

// StepUpRefusal is the 401 for an operation that needs a stronger or more recent sign-in than the one behind the token:
// RFC 9470 §3. scope names the scopes that the client has to ask for again along with it.
func (e *Endpoint) StepUpRefusal(scope string, demand oauth.StepUp) *mcp.HTTPRefusal {
	const text = "This operation needs a stronger or more recent sign-in."
	age := ""
	if demand.MaxAge > 0 {
		age = strconv.Itoa(int(demand.MaxAge / time.Second))
	}
	h := http.Header{}
	h.Set("WWW-Authenticate", e.buildChallenge("insufficient_user_authentication", text, scope, "acr_values", demand.ACR, "max_age", age))
	return &mcp.HTTPRefusal{Status: http.StatusUnauthorized, Header: h, Code: mcp.CodeInvalidRequest, Message: text}
}

// refuse writes a refusal before the JSON-RPC layer: the status and a JSON-RPC error body without an id, so that clients
// of every revision can read it. text is one of ours and needs no escaping.
func refuse(w http.ResponseWriter, status int, text string) {
	body := `{"jsonrpc":"2.0","error":{"code":` + strconv.Itoa(mcp.CodeInvalidRequest) + `,"message":` + strconv.Quote(text) + `}}`
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
