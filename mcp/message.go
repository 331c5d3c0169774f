package mcp

import (
	"context"
	"encoding/json"
	"net/http"
)

// Message is one JSON-RPC request or notification from a client, parsed and,
// on 2026-07-28, checked against its headers.
type Message struct {
	Method   string
	ID       json.RawMessage // nil for a notification
	Params   json.RawMessage // an object, or nil
	Target   string          // params.name or params.uri for the methods that address something, else ""
	Revision Revision
	Meta     Meta

	fields    paramFields
	header    http.Header
	client    json.RawMessage
	out       *responder // nil where nothing but the answer can be sent
	tool      *Tool      // of a tools/call, once known
	cause     error      // behind a tool error
	toolError bool
}

// Notification reports whether no answer is expected.
func (m *Message) Notification() bool { return m.ID == nil }

// Client is what the client calls itself, or nil. It is a claim: for logs and
// display, never for a decision.
func (m *Message) Client() *Implementation {
	if len(m.client) == 0 {
		return nil
	}
	var c Implementation
	if json.Unmarshal(m.client, &c) != nil {
		return nil
	}
	return &c
}

// Result is an answer in its wire form.
type Result interface {
	// AppendJSON appends the result object to dst.
	AppendJSON(dst []byte) []byte
}

// RawResult is a result that is already JSON: an object.
type RawResult json.RawMessage

// AppendJSON appends the result as it is.
func (r RawResult) AppendJSON(dst []byte) []byte { return append(dst, r...) }

// MessageHandler answers a message. A notification's result is dropped.
type MessageHandler func(ctx context.Context, m *Message) (Result, error)

// Middleware wraps the handling of every message, outermost first in the order
// given to [WithMiddleware]. It may look, refuse with an error, or hand a
// changed context on.
type Middleware func(next MessageHandler) MessageHandler

// Implementation names a program: this server, or the client that calls.
type Implementation struct {
	Name       string `json:"name"`
	Title      string `json:"title,omitempty"`
	Version    string `json:"version"`
	WebsiteURL string `json:"websiteUrl,omitempty"`
}
