package doctor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// era is one of the protocol's two eras.
type era struct {
	name, version string
	modern        bool
	session       string
}

// rpcAnswer is a JSON-RPC answer.
type rpcAnswer struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

const (
	legacyVersion  = "2025-11-25"
	modernVersion  = "2026-07-28"
	methodNotFound = -32601
	// bufferTime is how long the first event of a stream may take before something is taken to hold it back.
	bufferTime = 5 * time.Second
)

// withToken tries the endpoint with the token that was given, in both eras.
func (w *walk) withToken(ctx context.Context) {
	if w.o.Token == "" {
		return
	}
	w.begin("token", "With the token")
	if !w.secure {
		w.note("token.sent", "Token", "not sent: the connection is not safe for it")
		return
	}
	legacy := &era{name: legacyVersion, version: legacyVersion}
	if w.initialize(ctx, legacy) {
		w.tools(ctx, legacy)
	}
	modern := &era{name: modernVersion, version: modernVersion, modern: true}
	if w.discover(ctx, modern) {
		w.tools(ctx, modern)
		w.stream(ctx, modern)
	}
}

// call is a request with the token, in the form of its era.
func (w *walk) call(e *era, method, params string, notification bool) request {
	if e.modern {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + e.version + `","io.modelcontextprotocol/clientInfo":{"name":"gatehouse-doctor","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		if params != "" {
			params = "," + params
		}
		params = meta + params
	}
	id := `"id":1,`
	if notification {
		id = ""
	}
	body := `{"jsonrpc":"2.0",` + id + `"method":"` + method + `","params":{` + params + `}}`
	r := w.knock(http.MethodPost, body, "", "Authorization", "Bearer "+w.o.Token)
	r.secret = true
	if method != "initialize" {
		r.header = append(r.header, "MCP-Protocol-Version", e.version)
	}
	if e.modern {
		r.header = append(r.header, "Mcp-Method", method)
	}
	if e.session != "" {
		r.header = append(r.header, "Mcp-Session-Id", e.session)
	}
	return r
}

// rpc sends a request and reads its answer, which may be JSON or a stream of events.
func (w *walk) rpc(ctx context.Context, e *era, method, params string) (*rpcAnswer, *answer, *problem) {
	a := w.send(ctx, w.call(e, method, params, false))
	if p := a.transport(); p != nil {
		return nil, a, p
	}
	if a.status == http.StatusUnauthorized || a.status == http.StatusForbidden {
		return nil, a, &problem{finding: "token_refused", detail: a.seen(), mend: "The token is unknown, expired, revoked, for another endpoint or too narrow. Make a new one: gatehouse token add."}
	}
	body := a.body
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		body = lastEvent(body)
	}
	var out rpcAnswer
	if err := json.Unmarshal(body, &out); err != nil || out.Result == nil && out.Error == nil {
		return nil, a, &problem{finding: "not_rpc", detail: a.seen() + " without a JSON-RPC answer", mend: "The endpoint must answer JSON-RPC as application/json or text/event-stream; see what the proxy puts in its place."}
	}
	return &out, a, nil
}

// lastEvent is the data of the last event of a stream that holds an answer.
func lastEvent(stream []byte) []byte {
	var found, data []byte
	lines := bufio.NewScanner(bytes.NewReader(append(bytes.ReplaceAll(stream, []byte("\r\n"), []byte("\n")), "\n\n"...)))
	lines.Buffer(nil, maxBody+2)
	for lines.Scan() {
		line := lines.Bytes()
		if value, is := bytes.CutPrefix(line, []byte("data:")); is {
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
			continue
		}
		if len(line) > 0 {
			continue
		}
		if bytes.Contains(data, []byte(`"result"`)) || bytes.Contains(data, []byte(`"error"`)) {
			found = data
		}
		data = nil
	}
	return found
}

// faultOf is the fault of a JSON-RPC error.
func (r *rpcAnswer) faultOf() *problem {
	if r.Error == nil {
		return nil
	}
	return &problem{finding: "rpc_error", detail: fmt.Sprintf("error %d: %s", r.Error.Code, r.Error.Message), mend: mendServerError}
}

func (w *walk) initialize(ctx context.Context, e *era) bool {
	r, a, p := w.rpc(ctx, e, "initialize", `"protocolVersion":"`+e.version+`","capabilities":{},"clientInfo":{"name":"gatehouse-doctor","version":"1"}`)
	var result struct {
		Version string `json:"protocolVersion"`
		Server  struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"serverInfo"`
	}
	if p == nil {
		p = r.faultOf()
	}
	if p == nil && (json.Unmarshal(r.Result, &result) != nil || result.Version == "") {
		p = &problem{finding: "no_version", detail: "the result lacks protocolVersion", mend: "Answer initialize as the protocol says."}
	}
	if !w.judge("mcp.initialize", "initialize", result.Server.Name+" "+result.Server.Version+", revision "+result.Version, p) {
		return false
	}
	e.version, e.session = result.Version, a.header.Get("Mcp-Session-Id")
	a = w.send(ctx, w.call(e, "notifications/initialized", "", true))
	if p := a.transport(); p != nil || a.status > 299 {
		if p == nil {
			p = &problem{finding: "status", detail: a.seen(), mend: "A notification must get 202."}
		}
		return w.judge("mcp.initialized", "notifications/initialized", "", p)
	}
	return true
}

// discover begins in the newer era. A server that does not know the method is an older one; apps fall back.
func (w *walk) discover(ctx context.Context, e *era) bool {
	const check, title = "mcp.discover", "server/discover"
	r, _, p := w.rpc(ctx, e, "server/discover", "")
	if p == nil && r.Error != nil && r.Error.Code == methodNotFound {
		w.note(check, title, "not known: apps fall back to the older revisions")
		return false
	}
	var result struct {
		Versions []string `json:"supportedVersions"`
	}
	if p == nil {
		p = r.faultOf()
	}
	if p == nil && (json.Unmarshal(r.Result, &result) != nil || len(result.Versions) == 0) {
		p = &problem{finding: "no_version", detail: "the result lacks supportedVersions", mend: "Answer server/discover as the protocol says."}
	}
	return w.judge(check, title, strings.Join(result.Versions, ", "), p)
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// tools lists the tools and looks for what makes apps drop one, or all.
func (w *walk) tools(ctx context.Context, e *era) {
	r, _, p := w.rpc(ctx, e, "tools/list", "")
	var result struct {
		Tools []struct {
			Name   string                     `json:"name"`
			Input  map[string]json.RawMessage `json:"inputSchema"`
			Output map[string]json.RawMessage `json:"outputSchema"`
		} `json:"tools"`
	}
	if p == nil {
		p = r.faultOf()
	}
	if p == nil {
		if err := json.Unmarshal(r.Result, &result); err != nil {
			p = &problem{finding: "not_a_list", detail: err.Error(), mend: "Answer tools/list as the protocol says."}
		}
	}
	for _, t := range result.Tools {
		if p == nil {
			p = judgeTool(t.Name, t.Input, t.Output)
		}
	}
	if p == nil && len(result.Tools) == 0 {
		p = &problem{finding: "no_tools", mild: true, detail: "the list is empty", mend: "The token may allow nothing: look at its scopes and locations."}
	}
	w.judge("mcp.tools", "tools/list in "+e.name, fmt.Sprintf("%d tools", len(result.Tools)), p)
}

func judgeTool(name string, input, output map[string]json.RawMessage) *problem {
	if !toolName.MatchString(name) {
		return &problem{finding: "tool_name", detail: "tool name " + name, mend: "Use at most 64 of A–Z a–z 0–9 _ - in a tool's name."}
	}
	if string(input["type"]) != `"object"` {
		return &problem{finding: "tool_schema", detail: name + ": inputSchema is not of type object", mend: "The root of inputSchema must be type object."}
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf", "not", "if"} {
		if _, found := input[word]; found {
			return &problem{finding: "tool_schema", detail: name + ": inputSchema has " + word + " at its root", mend: "Claude drops such a tool without a word. Move it below the root."}
		}
	}
	if output != nil && string(output["type"]) != `"object"` {
		return &problem{finding: "tool_schema", detail: name + ": outputSchema is not of type object", mend: "With it the whole list fails in TypeScript apps. The root must be type object."}
	}
	return nil
}

// stream opens a stream of events and waits for the first one: a proxy that buffers holds it back.
func (w *walk) stream(ctx context.Context, e *era) {
	const check, title = "mcp.stream", "Events come at once"
	ctx, cancel := context.WithTimeout(ctx, min(bufferTime, w.o.Timeout))
	defer cancel()
	res, err := w.do(ctx, w.call(e, "subscriptions/listen", `"notifications":{}`, false))
	if err == nil {
		defer res.Body.Close()
		if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			w.note(check, title, "not tried: the server opens no stream of events")
			return
		}
		_, err = res.Body.Read(make([]byte, 1))
	}
	var p *problem
	if err != nil {
		p = &problem{finding: "buffered", mild: true, detail: "the first event of a stream did not come: " + (&answer{url: w.target, err: err}).silence().detail,
			mend: "Turn response buffering off for this path (nginx: proxy_buffering off; Apache: flushpackets=on) and allow long answers (proxy_read_timeout 1h)."}
	}
	w.judge(check, title, "a stream's first event arrived", p)
}
