package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Option is a setting of [NewServer].
type Option func(*Server) error

// Capabilities are features a server declares besides what it registers.
// Tools and resources are declared when there are any.
type Capabilities struct {
	Prompts     bool // prompts/list answers, with the empty list
	Completions bool // completion/complete answers; it has suggestions for nothing registered here
	Logging     bool // tools may log to the client, see [Call.Log]
	Resources   bool // resource lists answer though nothing is registered
}

// View is what one caller may see.
type View struct {
	// Key stands for the visible sets: two views with equal keys must show the same. It must be
	// comparable, and small, since it is kept; nil means the sets are worked out
	// on each request.
	Key any
	// Tool reports whether a tool is visible; nil shows all.
	Tool func(*Tool) bool
	// Resource reports whether a resource is visible; nil shows all.
	Resource func(*Resource) bool
}

// ResultCodec turns what a handler returned into a result.
type ResultCodec func(ctx context.Context, c *Call, out any) (*CallToolResult, error)

// ErrorCodec turns an error of a call into a result the model reads. It gets
// every error that is neither an *[RPCError] nor an *[HTTPRefusal].
type ErrorCodec func(ctx context.Context, c *Call, err error) *CallToolResult

// Defaults of the settings below.
const (
	DefaultToolDeadline  = time.Minute
	DefaultBodyLimit     = 1 << 20
	DefaultMaxDepth      = 64
	DefaultToolNameLimit = 30
)

// WithTools registers tools; lists keep the order.
func WithTools(tools ...*Tool) Option {
	return func(s *Server) error { s.tools = append(s.tools, tools...); return nil }
}

// WithResources registers resources; lists keep the order.
func WithResources(resources ...*Resource) Option {
	return func(s *Server) error { s.resources = append(s.resources, resources...); return nil }
}

// WithInstructions sets the text clients hand to the model.
func WithInstructions(text string) Option {
	return func(s *Server) error { s.instructions = text; return nil }
}

// WithCapabilities declares optional features.
func WithCapabilities(c Capabilities) Option {
	return func(s *Server) error { s.caps = c; return nil }
}

// WithView filters what each caller sees. A tool the view hides is unknown to
// a call, unless a [WithAuthorize] hook is there to decide about it.
func WithView(view func(ctx context.Context) View) Option {
	return func(s *Server) error { s.view = view; return nil }
}

// WithMiddleware wraps the handling of every message, first outermost.
func WithMiddleware(mw ...Middleware) Option {
	return func(s *Server) error { s.middleware = append(s.middleware, mw...); return nil }
}

// WithAuthorize sets the check of whether the caller may make this call.
func WithAuthorize(f func(ctx context.Context, c *Call) error) Option {
	return func(s *Server) error { s.authorize = f; return nil }
}

// WithLimit sets the check that charges a call; it runs last before the handler.
func WithLimit(f func(ctx context.Context, c *Call) error) Option {
	return func(s *Server) error { s.limit = f; return nil }
}

// WithArgumentsFirst checks the arguments before the authorize hook.
func WithArgumentsFirst(on bool) Option {
	return func(s *Server) error { s.argumentsFirst = on; return nil }
}

// WithResultCodec replaces the default: JSON text, and structuredContent when
// the value is an object.
func WithResultCodec(c ResultCodec) Option {
	return func(s *Server) error { s.resultCodec = c; return nil }
}

// WithErrorCodec replaces the default: a text that tells argument and
// [ToolError] messages and nothing of any other error.
func WithErrorCodec(c ErrorCodec) Option {
	return func(s *Server) error { s.errorCodec = c; return nil }
}

// WithObserver sets a function told of every message after it was answered.
func WithObserver(f func(ctx context.Context, o Observation)) Option {
	return func(s *Server) error { s.observe = f; return nil }
}

// WithLogger sets where panics and hidden causes go; the default drops them.
func WithLogger(l *slog.Logger) Option {
	return func(s *Server) error {
		if l == nil {
			return errors.New("logger is nil")
		}
		s.log = l
		return nil
	}
}

// WithClock sets the clock that measures [Observation] durations; without one they are zero.
func WithClock(now func() time.Time) Option {
	return func(s *Server) error { s.now = now; return nil }
}

// WithToolDeadline bounds the time of a call.
func WithToolDeadline(d time.Duration) Option {
	return func(s *Server) error { s.toolDeadline = d; return positive("tool deadline", int64(d)) }
}

// WithBodyLimit bounds the request body in bytes.
func WithBodyLimit(n int64) Option {
	return func(s *Server) error { s.bodyLimit = n; return positive("body limit", n) }
}

// WithMaxDepth bounds how deep a request's JSON may nest.
func WithMaxDepth(n int) Option {
	return func(s *Server) error { s.maxDepth = n; return positive("max depth", int64(n)) }
}

// WithToolNameLimit replaces the 30 characters a tool name may have; 128 is the protocol's bound.
func WithToolNameLimit(n int) Option {
	return func(s *Server) error {
		if n < 1 || n > 128 {
			return fmt.Errorf("tool name limit %d is not between 1 and 128", n)
		}
		s.nameLimit = n
		return nil
	}
}

// WithListTTL sets how long 2026-07-28 clients may keep discovery and lists.
func WithListTTL(d time.Duration) Option {
	return func(s *Server) error {
		if d < 0 {
			return errors.New("list TTL is negative")
		}
		s.listTTL = d
		return nil
	}
}

func positive(what string, n int64) error {
	if n <= 0 {
		return fmt.Errorf("%s must be positive", what)
	}
	return nil
}
