package mcp

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// JSON-RPC codes and the protocol's own (2026-07-28, basic/index "Error codes").
const (
	CodeParseError                 = -32700
	CodeInvalidRequest             = -32600
	CodeMethodNotFound             = -32601
	CodeInvalidParams              = -32602
	CodeInternalError              = -32603
	CodeHeaderMismatch             = -32020
	CodeMissingClientCapability    = -32021
	CodeUnsupportedProtocolVersion = -32022
)

// RPCError is a failure the client reads as a JSON-RPC error object. Returned
// from middleware, a hook or a handler it goes out with its own code, message
// and data; everything in it is public.
type RPCError struct {
	Code    int
	Message string
	Data    any // any JSON value, nil for none
}

func (e *RPCError) Error() string { return fmt.Sprintf("json-rpc error %d: %s", e.Code, e.Message) }

// HTTPRefusal is a refusal with an HTTP status of its own, such as 401, 403 or
// 429. It is written as that status and those headers with a JSON-RPC error
// body carrying the request's id, before any answer has begun. Code 0 becomes
// -32600 (invalid request).
type HTTPRefusal struct {
	Status  int
	Header  http.Header
	Code    int
	Message string
	Data    any
}

func (e *HTTPRefusal) Error() string {
	return "http refusal " + strconv.Itoa(e.Status) + ": " + e.Message
}

func (e *HTTPRefusal) rpc() *RPCError {
	code := e.Code
	if code == 0 {
		code = CodeInvalidRequest
	}
	msg := e.Message
	if msg == "" {
		msg = http.StatusText(e.Status)
	}
	return &RPCError{Code: code, Message: msg, Data: e.Data}
}

// ToolError is a failure the model may read: Text goes into the result as it
// stands. Cause stays in the log.
type ToolError struct {
	Text  string
	Cause error
}

func (e *ToolError) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *ToolError) Unwrap() error { return e.Cause }

// FieldError is one thing wrong with the arguments. The message never repeats
// a value that was sent.
type FieldError struct {
	InstancePath string `json:"instancePath"` // JSON Pointer into the arguments; "" is the whole
	Message      string `json:"message"`
}

// Path is InstancePath in dotted form: items[0].name.
func (f FieldError) Path() string { return dottedPath(f.InstancePath) }

// ArgumentError lists what is wrong with a call's arguments, ordered by path.
type ArgumentError struct {
	Fields []FieldError
}

func (e *ArgumentError) Error() string {
	var b strings.Builder
	b.WriteString("invalid arguments")
	for i, f := range e.Fields {
		b.WriteString([2]string{": ", "; "}[min(i, 1)])
		if p := f.Path(); p != "" {
			b.WriteString(p)
			b.WriteByte(' ')
		}
		b.WriteString(f.Message)
	}
	return b.String()
}

// InvalidParams makes a -32602 error.
func InvalidParams(message string) *RPCError {
	return &RPCError{Code: CodeInvalidParams, Message: message}
}

// ResourceNotFound is the error for a URI the server does not know (SEP-2164).
func ResourceNotFound(uri string) *RPCError {
	return &RPCError{Code: CodeInvalidParams, Message: "Resource not found", Data: map[string]string{"uri": uri}}
}

// MissingClientCapability is the error for a request that needs capabilities
// the client did not declare; required is a ClientCapabilities object.
func MissingClientCapability(required map[string]any) *RPCError {
	return &RPCError{
		Code: CodeMissingClientCapability, Message: "Missing required client capability",
		Data: map[string]any{"requiredCapabilities": required},
	}
}

func unsupportedVersion(requested string) *RPCError {
	return &RPCError{
		Code: CodeUnsupportedProtocolVersion, Message: "Unsupported protocol version",
		Data: map[string]any{"supported": Revisions(), "requested": requested},
	}
}

func headerMismatch(message string) *RPCError {
	return &RPCError{Code: CodeHeaderMismatch, Message: message}
}

func invalidRequest(message string) *RPCError {
	return &RPCError{Code: CodeInvalidRequest, Message: message}
}

func methodNotFound() *RPCError {
	return &RPCError{Code: CodeMethodNotFound, Message: "Method not found"}
}

func internalError() *RPCError { return &RPCError{Code: CodeInternalError, Message: "Internal error"} }

func unknownTool() *RPCError { return InvalidParams("Unknown tool") }

// dottedPath turns a JSON Pointer into the form people write. A token made of
// digits is taken for a list index.
func dottedPath(pointer string) string {
	if pointer == "" {
		return ""
	}
	var b strings.Builder
	for tok := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if isDigits(tok) {
			b.WriteString("[" + tok + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(unescapePointer.Replace(tok))
	}
	return b.String()
}

var (
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
)

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
