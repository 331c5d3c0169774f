package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// panicError stands for a panic in middleware, a hook or a handler.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// panicked logs a recovered panic with its stack.
func (s *Server) panicked(ctx context.Context, m *Message, v any) error {
	s.log.LogAttrs(ctx, slog.LevelError, "panic while handling a message",
		slog.String("method", m.Method), slog.String("target", m.Target),
		slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	return &panicError{value: v}
}

// rpcError gives an error its wire form. Unknown errors are internal errors
// whose text only the log sees.
func (s *Server) rpcError(ctx context.Context, m *Message, err error) *RPCError {
	if rpc, ok := errors.AsType[*RPCError](err); ok {
		return rpc
	}
	if refusal, ok := errors.AsType[*HTTPRefusal](err); ok {
		return refusal.rpc()
	}
	if _, ok := errors.AsType[*panicError](err); !ok && ctx.Err() == nil {
		s.log.LogAttrs(ctx, slog.LevelError, "message failed", slog.String("method", m.Method), slog.Any("error", err))
	}
	return internalError()
}
