package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/mcp"
)

// Answer is what a handler hands to the codec: the data and what the fitting needs to know about it.
type Answer struct {
	Data any
	// AsOf is when the call's work began.
	AsOf time.Time
	// Next is the cursor of the page after this one, "" on the last.
	Next string
	// Trimmed are paths that were left out before the answer was made.
	Trimmed []string

	after func(n int) (string, error) // cursor that continues after entry n of this page
}

// Error is a failure a model reads: a code and one fixed English sentence, which never holds a value that was sent or a
// stored text.
type Error struct {
	Code  string
	Hint  string
	Cause error
}

func (e *Error) Error() string { return e.Code + ": " + e.Hint }

// Unwrap returns the cause, which only the log sees.
func (e *Error) Unwrap() error { return e.Cause }

// invalid is a validation error at one path of the arguments.
func invalid(path, message string) *Error {
	return &Error{Code: "validation", Hint: path + ": " + message}
}

// errUnavailable has one hint for every cause, so that a caller learns nothing about what it may not see (KE-85).
func errUnavailable() *Error {
	return &Error{Code: "tool_unavailable", Hint: "This tool cannot be used there. Call capabilities to see which tools can be used where."}
}

func errTokenScope() *Error {
	return &Error{Code: "token_scope", Hint: "This key may only read; the person can make one that may write in Settings, Connections."}
}

func errOutputTooLarge() *Error {
	return &Error{Code: "output_too_large", Hint: "The answer does not fit into 8 KB. Ask for less: a smaller limit, a smaller depth or narrower filters."}
}

// encodeOptions are the rules of the wire: lists are never null, invalid UTF-8 never breaks an answer.
var encodeOptions = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true))

func marshal(v any) ([]byte, error) { return json.Marshal(v, encodeOptions) }

// encode writes the envelope. What fits at once, and nearly all does, is encoded once.
func encode(c *Contract, a *Answer) ([]byte, error) {
	data, err := marshal(a.Data)
	if err != nil {
		return nil, fmt.Errorf("encode answer of %s: %w", c.Name, err)
	}
	asOf := stampText(a.AsOf)
	tail := appendTail(nil, asOf, a.Next, a.Trimmed)
	if len(`{"data":`)+len(data)+len(tail) < AnswerLimit {
		text := make([]byte, 0, len(`{"data":`)+len(data)+len(tail))
		return append(append(append(text, `{"data":`...), data...), tail...), nil
	}
	tree, err := parseTree(data)
	if err != nil {
		return nil, err
	}
	f := fitting{data: tree, asOf: asOf, next: a.Next, trimmed: a.Trimmed, write: c.write(), list: c.List, after: a.after}
	return f.fit()
}

// EncodeResult is the result codec of the home server: one text block (KE-06, KE-97, KE-98).
func (s *Set) EncodeResult(ctx context.Context, c *mcp.Call, out any) (*mcp.CallToolResult, error) {
	a, ok := out.(*Answer)
	if !ok {
		return nil, fmt.Errorf("tool %s gave a %T", c.Tool().Name, out)
	}
	text, err := encode(s.contracts[c.Tool().Name], a)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.TextBytes(text)}}, nil
}

// EncodeError is the error codec of the home server: {"error","hint"} and nothing else (KE-15, KE-16).
func (s *Set) EncodeError(ctx context.Context, c *mcp.Call, err error) *mcp.CallToolResult {
	e := publicError(ctx, s.contracts[c.Tool().Name], err)
	if e.Cause != nil && !errors.Is(err, context.Canceled) {
		c.LogFailure(ctx, e.Cause, slog.String("request_id", requestID(ctx)))
	}
	wire := struct {
		Error string `json:"error"`
		Hint  string `json:"hint"`
	}{e.Code, e.Hint}
	text, err := marshal(wire)
	if err != nil { // two strings always encode
		text = []byte(`{"error":"internal","hint":"Something went wrong on the server."}`)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.TextBytes(text)}, IsError: true}
}

// publicError turns any error into one a model may read. What is not ours to show stays in the log.
func publicError(ctx context.Context, c *Contract, err error) *Error {
	var (
		known *Error
		args  *mcp.ArgumentError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &args) && len(args.Fields) > 0:
		return argumentError(c.Schema, args.Fields[0])
	}
	if e := domainError(err); e != nil {
		return e
	}
	hint := "Something went wrong on the server; it is recorded there."
	if id := requestID(ctx); id != "" {
		hint = "Something went wrong on the server; it is recorded there under request " + id + "."
	}
	return &Error{Code: "internal", Hint: hint, Cause: err}
}

func requestID(ctx context.Context) string {
	if p := home.PrincipalFrom(ctx); p != nil {
		return p.RequestID
	}
	return ""
}

// domainError takes over what the inventory refuses with. Its hints follow the same rules as ours; what every tool may
// answer is worded here, once.
func domainError(err error) *Error {
	var refused *inventory.Error
	if !errors.As(err, &refused) {
		return nil
	}
	switch refused.Code {
	case inventory.CodeToolUnavailable, inventory.CodeForbidden:
		return errUnavailable()
	case inventory.CodeTokenScope:
		return errTokenScope()
	case inventory.CodeNotFound:
		return &Error{Code: "not_found", Hint: "Nothing with this id or code is here. search_things finds things, list_contents shows places."}
	}
	return &Error{Code: string(refused.Code), Hint: refused.Hint}
}

// Stamp is a moment on the wire: UTC with three decimals.
type Stamp time.Time

// MarshalJSONTo writes the moment.
func (s Stamp) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.String(stampText(time.Time(s))))
}

func stampText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// stamp makes an optional moment: nil stays nil.
func stamp(t *time.Time) *Stamp {
	if t == nil || t.IsZero() {
		return nil
	}
	s := Stamp(*t)
	return &s
}
