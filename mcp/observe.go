package mcp

import (
	"context"
	"errors"
	"time"
)

// Outcome says how a message ended.
type Outcome string

// The outcomes.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeToolError Outcome = "tool_error"
	OutcomeRPCError  Outcome = "rpc_error"
	OutcomeRefused   Outcome = "refused" // an HTTPRefusal
)

// Observation is the record of one answered message.
type Observation struct {
	Method       string // "" when the body could not be read that far
	Tool         string // name of a registered tool, else ""
	Target       string // params.name or params.uri as sent
	Revision     Revision
	Client       *Implementation // nil when unknown
	Notification bool
	Duration     time.Duration
	Outcome      Outcome
	Code         int   // of the JSON-RPC error
	Status       int   // HTTP status of the answer
	Err          error // the cause of anything but ok; for the log
}

// answered is what became of a message.
type answered struct {
	status int
	rpc    *RPCError // the error object sent, if any
	err    error     // its cause
}

func (s *Server) report(ctx context.Context, m *Message, began time.Time, done answered) {
	if s.observe == nil {
		return
	}
	o := Observation{Outcome: OutcomeOK, Status: done.status, Err: done.err}
	if m != nil {
		o.Method, o.Target, o.Revision = m.Method, m.Target, m.Revision
		o.Client, o.Notification = m.Client(), m.Method != "" && m.Notification()
		if m.tool != nil {
			o.Tool = m.tool.Name
		}
	}
	if s.now != nil {
		o.Duration = s.now().Sub(began)
	}
	var refusal *HTTPRefusal
	switch {
	case errors.As(done.err, &refusal):
		o.Outcome, o.Code = OutcomeRefused, refusal.rpc().Code
	case done.rpc != nil:
		o.Outcome, o.Code = OutcomeRPCError, done.rpc.Code
	case m != nil && m.toolError:
		o.Outcome, o.Err = OutcomeToolError, m.cause
	}
	s.observe(ctx, o)
}

func (s *Server) started() time.Time {
	if s.now == nil {
		return time.Time{}
	}
	return s.now()
}
