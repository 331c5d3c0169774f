package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
)

// Call is one tools/call on its way through the chain. It is valid until the
// answer is sent.
type Call struct {
	tool    *Tool
	msg     *Message
	srv     *Server
	args    json.RawMessage
	decoded any // *In of the tool

	visible   func() bool
	doneFuncs []func()

	progressMu   sync.Mutex
	progressed   bool
	lastProgress float64
}

// Tool is the tool called.
func (c *Call) Tool() *Tool { return c.tool }

// Message is the request the call came in.
func (c *Call) Message() *Message { return c.msg }

// Revision is the request's protocol revision.
func (c *Call) Revision() Revision { return c.msg.Revision }

// Meta is the request's _meta.
func (c *Call) Meta() Meta { return c.msg.Meta }

// Client is what the client calls itself on this request, or nil.
func (c *Call) Client() *Implementation { return c.msg.Client() }

// Arguments are the arguments: as sent before the argument check, and without
// the nulls that count as absent after it. Never nil.
func (c *Call) Arguments() json.RawMessage { return c.args }

// LogFailure writes a cause that the caller must not see to the server's log. An error codec calls it for what it hides.
func (c *Call) LogFailure(ctx context.Context, err error, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("tool", c.tool.Name), slog.Any("error", err)}, attrs...)
	c.srv.log.LogAttrs(ctx, slog.LevelError, "tool call failed", attrs...)
}

// Visible reports whether the caller's view shows the tool.
func (c *Call) Visible() bool { return c.visible() }

// OnDone has f run when the call has ended, however it ended; last given,
// first run. A limit that lends a slot takes it back here.
func (c *Call) OnDone(f func()) { c.doneFuncs = append(c.doneFuncs, f) }

func (c *Call) done() {
	for i := len(c.doneFuncs) - 1; i >= 0; i-- {
		c.doneFuncs[i]()
	}
}

// callTool is the chain behind tools/call: params, authorize, arguments,
// limit, handler, codec.
func (s *Server) callTool(ctx context.Context, m *Message) (Result, error) {
	c, err := s.newCall(ctx, m)
	if err != nil {
		return nil, err
	}
	defer c.done()
	ctx, cancel := context.WithTimeout(ctx, s.deadlineOf(c.tool))
	defer cancel()
	out, err := s.runCall(ctx, c)
	var res *CallToolResult
	if err == nil {
		res, err = s.encodeOut(ctx, c, out)
	}
	if err != nil {
		if res, err = s.encodeErr(ctx, c, err); err != nil {
			return nil, err
		}
	}
	m.toolError = res.IsError
	return res.encode(s, m.Revision)
}

// newCall validates the params of a tools/call.
func (s *Server) newCall(ctx context.Context, m *Message) (*Call, error) {
	if !m.fields.hasName {
		return nil, InvalidParams("params.name must be a string")
	}
	tool := s.toolIndex[m.Target]
	if tool == nil {
		return nil, unknownTool()
	}
	m.tool = tool
	c := &Call{tool: tool, msg: m, srv: s, args: m.fields.arguments}
	switch {
	case c.args == nil || string(c.args) == "null":
		c.args = emptyObject
	case c.args[0] != '{':
		return nil, InvalidParams("params.arguments must be an object")
	}
	if len(tool.paramHeaders) > 0 && m.Revision.Modern() {
		if err := tool.checkParamHeaders(m.header, c.args); err != nil {
			return nil, err
		}
	}
	c.visible = func() bool { return s.toolVisible(ctx, tool) }
	if s.authorize == nil && !c.visible() {
		return nil, unknownTool()
	}
	return c, nil
}

var emptyObject = json.RawMessage("{}")

// runCall runs the steps that may fail, in the profile's order.
func (s *Server) runCall(ctx context.Context, c *Call) (any, error) {
	if s.argumentsFirst {
		if err := c.checkArguments(); err != nil {
			return nil, err
		}
	}
	if s.authorize != nil {
		if err := s.authorize(ctx, c); err != nil {
			return nil, err
		}
	}
	if !s.argumentsFirst {
		if err := c.checkArguments(); err != nil {
			return nil, err
		}
	}
	if s.limit != nil {
		if err := s.limit(ctx, c); err != nil {
			return nil, err
		}
	}
	return c.tool.run(ctx, c)
}

// checkArguments holds the arguments against the schema and decodes them.
func (c *Call) checkArguments() error {
	args, err := c.tool.input.Check(c.args)
	if err != nil {
		return err
	}
	c.args = args
	c.decoded, err = c.tool.bind(args)
	return err
}

func (s *Server) encodeOut(ctx context.Context, c *Call, out any) (*CallToolResult, error) {
	if res, ok := out.(*CallToolResult); ok {
		if res == nil {
			return nil, errors.New("handler returned a nil result")
		}
		return res, nil
	}
	res, err := s.resultCodec(ctx, c, out)
	if err == nil && res == nil {
		return nil, errors.New("result codec returned nil")
	}
	return res, err
}

// encodeErr sorts an error: what has a wire form of its own stays an error,
// everything else becomes a result by the codec.
func (s *Server) encodeErr(ctx context.Context, c *Call, err error) (*CallToolResult, error) {
	var (
		rpc     *RPCError
		refusal *HTTPRefusal
	)
	if errors.As(err, &rpc) || errors.As(err, &refusal) {
		return nil, err
	}
	c.msg.cause = err
	res := s.errorCodec(ctx, c, err)
	if res == nil {
		return nil, errors.New("error codec returned nil")
	}
	return res, nil
}
