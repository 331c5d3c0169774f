package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Methods of the protocol served here.
const (
	methodInitialize    = "initialize"
	methodDiscover      = "server/discover"
	methodPing          = "ping"
	methodToolsList     = "tools/list"
	methodToolsCall     = "tools/call"
	methodResourcesList = "resources/list"
	methodTemplatesList = "resources/templates/list"
	methodResourcesRead = "resources/read"
	methodPromptsList   = "prompts/list"
	methodPromptsGet    = "prompts/get"
	methodComplete      = "completion/complete"
	methodSetLevel      = "logging/setLevel"
	methodListen        = "subscriptions/listen"
)

// methodString returns b as a string, the constant where there is one.
func methodString(b []byte) string {
	switch string(b) {
	case methodToolsCall:
		return methodToolsCall
	case methodToolsList:
		return methodToolsList
	case methodDiscover:
		return methodDiscover
	case methodInitialize:
		return methodInitialize
	}
	return string(b)
}

func isNotification(method string) bool { return strings.HasPrefix(method, "notifications/") }

// addressed methods name one thing in their params; Mcp-Name repeats it.
func addressed(method string) bool {
	return method == methodToolsCall || method == methodResourcesRead || method == methodPromptsGet
}

// route answers a message by its method. Every notification is accepted:
// none changes anything on a server without sessions.
func (s *Server) route(ctx context.Context, m *Message) (Result, error) {
	if m.Notification() {
		return nil, nil
	}
	switch m.Method {
	case methodToolsCall:
		if len(s.tools) > 0 {
			return s.callTool(ctx, m)
		}
	case methodToolsList:
		if len(s.tools) > 0 {
			return s.listTools(ctx, m)
		}
	case methodResourcesList, methodTemplatesList, methodResourcesRead:
		if s.hasResources() {
			return s.routeResources(ctx, m)
		}
	case methodPromptsList, methodPromptsGet:
		if s.caps.Prompts {
			return s.routePrompts(m)
		}
	case methodComplete:
		if s.caps.Completions {
			return s.complete(m)
		}
	default:
		return s.routeEra(ctx, m)
	}
	return nil, methodNotFound()
}

// routeEra answers the methods only one era has.
func (s *Server) routeEra(_ context.Context, m *Message) (Result, error) {
	if m.Revision.Modern() {
		switch m.Method {
		case methodDiscover:
			return s.fixed.discover, nil
		case methodListen:
			return s.listen(m)
		}
		return nil, methodNotFound()
	}
	switch m.Method {
	case methodInitialize:
		return s.initialize(m)
	case methodPing:
		return emptyResult, nil
	case methodSetLevel:
		if s.caps.Logging {
			return s.setLevel(m)
		}
	}
	return nil, methodNotFound()
}

var emptyResult = RawResult("{}")

func (s *Server) routeResources(ctx context.Context, m *Message) (Result, error) {
	switch m.Method {
	case methodResourcesList:
		return s.listResources(ctx, m)
	case methodTemplatesList:
		return s.fixed.templates.forEra(m)
	}
	return s.readResource(ctx, m)
}

func (s *Server) routePrompts(m *Message) (Result, error) {
	if m.Method == methodPromptsList {
		return s.fixed.prompts.forEra(m)
	}
	if !m.fields.hasName {
		return nil, InvalidParams("params.name must be a string")
	}
	return nil, InvalidParams("Unknown prompt")
}

// initialize negotiates the revision. What the client says of itself serves
// the observer; nothing is kept for later requests.
func (s *Server) initialize(m *Message) (Result, error) {
	var params struct {
		ProtocolVersion *string         `json:"protocolVersion"`
		ClientInfo      json.RawMessage `json:"clientInfo"`
	}
	if m.Params == nil || json.Unmarshal(m.Params, &params) != nil || params.ProtocolVersion == nil {
		return nil, InvalidParams("params.protocolVersion must be a string")
	}
	m.client = params.ClientInfo
	m.Revision = negotiate(*params.ProtocolVersion)
	return s.fixed.initialize[m.Revision], nil
}

// setLevel accepts a level and remembers nothing: without sessions there is
// nobody to remember it for.
func (s *Server) setLevel(m *Message) (Result, error) {
	var params struct {
		Level json.RawMessage `json:"level"`
	}
	if m.Params == nil || json.Unmarshal(m.Params, &params) != nil {
		return nil, InvalidParams("params.level is required")
	}
	if _, ok := parseLogLevel(params.Level); !ok {
		return nil, InvalidParams("params.level is not a log level")
	}
	return emptyResult, nil
}

// complete has no suggestions: nothing registered here takes arguments that
// could be completed. Unknown references answer the same, and so tell nothing.
func (s *Server) complete(m *Message) (Result, error) {
	var params struct {
		Ref *struct {
			Type string `json:"type"`
		} `json:"ref"`
		Argument *struct {
			Name  *string `json:"name"`
			Value *string `json:"value"`
		} `json:"argument"`
	}
	switch {
	case m.Params == nil || json.Unmarshal(m.Params, &params) != nil, params.Ref == nil, params.Argument == nil:
		return nil, InvalidParams("params.ref and params.argument must be objects")
	case params.Ref.Type != "ref/prompt" && params.Ref.Type != "ref/resource":
		return nil, InvalidParams("params.ref.type is unknown")
	case params.Argument.Name == nil || params.Argument.Value == nil:
		return nil, InvalidParams("params.argument needs name and value")
	}
	return s.fixed.completion.forEra(m)
}

// listen acknowledges the part of the wish list that is honoured, which is
// none: registered sets are frozen, so no list ever changes. A stream with
// nothing to wait for ends at once with its result.
func (s *Server) listen(m *Message) (Result, error) {
	var params struct {
		Notifications map[string]json.RawMessage `json:"notifications"`
	}
	if m.Params == nil || json.Unmarshal(m.Params, &params) != nil || params.Notifications == nil {
		return nil, InvalidParams("params.notifications must be an object")
	}
	if m.out == nil || !m.out.accept.stream {
		return nil, &HTTPRefusal{Status: 406, Message: "Accept must allow text/event-stream"}
	}
	tag := append(append([]byte(`"`+MetaSubscriptionID+`":`), m.ID...), '}')
	frame := []byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{`)
	m.out.notify(append(append(frame, tag...), `,"notifications":{}}}`...))
	result := append([]byte(`{"resultType":"complete","_meta":{`), s.serverInfoMember...)
	return RawResult(append(append(append(result, ','), tag...), '}')), nil
}

// checkCursor refuses every cursor: no list here has a second page.
func checkCursor(m *Message) error {
	if c := m.fields.cursor; c != nil && string(c) != "null" {
		return InvalidParams("Invalid cursor")
	}
	return nil
}

// readResource answers resources/read.
func (s *Server) readResource(ctx context.Context, m *Message) (Result, error) {
	if !m.fields.hasURI {
		return nil, InvalidParams("params.uri must be a string")
	}
	res := s.resourceIndex[m.Target]
	if res == nil || !s.resourceVisible(ctx, res) {
		return nil, ResourceNotFound(m.Target)
	}
	ctx, cancel := context.WithTimeout(ctx, s.toolDeadline)
	defer cancel()
	contents, err := res.Read(ctx, &ResourceRequest{Resource: res, URI: m.Target, Message: m})
	if err != nil {
		return nil, fmt.Errorf("read resource %s: %w", m.Target, err)
	}
	if len(contents) == 0 {
		return nil, errors.New("read resource " + m.Target + ": no contents")
	}
	return s.encodeContents(res, contents, m.Revision)
}

func (s *Server) encodeContents(res *Resource, contents []ResourceContents, rev Revision) (Result, error) {
	dst := []byte(`{"contents":[`)
	var err error
	for i, c := range contents {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = c.append(dst, res.URI, res.MIMEType); err != nil {
			return nil, fmt.Errorf("encode resource %s: %w", res.URI, err)
		}
	}
	dst = append(dst, ']')
	if rev.Modern() {
		dst = s.appendCacheHints(dst, 0, s.view != nil || !res.static)
	}
	return RawResult(append(dst, '}')), nil
}
