package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// CallToolResult is the outcome of a tool call.
type CallToolResult struct {
	Content []Content
	// StructuredContent is any value that encodes to a JSON object. A
	// json.RawMessage is written as it is and must be valid. Clients of
	// 2025-03-26, which do not know the field, are sent the rest.
	StructuredContent any
	IsError           bool
	Meta              map[string]any
}

// TextResult is a result of one text block.
func TextResult(text string) *CallToolResult {
	return &CallToolResult{Content: []Content{Text{Text: text}}}
}

// ErrorResult is a result of one text block that reports a failure to the model.
func ErrorResult(text string) *CallToolResult {
	return &CallToolResult{Content: []Content{Text{Text: text}}, IsError: true}
}

// DefaultResultCodec is the codec used without [WithResultCodec].
func DefaultResultCodec(_ context.Context, _ *Call, out any) (*CallToolResult, error) {
	b, err := marshalPlain(out)
	if err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	res := &CallToolResult{Content: []Content{TextBytes(b)}}
	if len(b) > 0 && b[0] == '{' {
		res.StructuredContent = json.RawMessage(b)
	}
	return res, nil
}

// defaultErrorCodec shows what was meant to be shown and logs the rest.
func (s *Server) defaultErrorCodec(ctx context.Context, c *Call, err error) *CallToolResult {
	var (
		args *ArgumentError
		tool *ToolError
	)
	switch {
	case errors.As(err, &args):
		return ErrorResult(upperFirst(args.Error()))
	case errors.As(err, &tool):
		return ErrorResult(tool.Text)
	case errors.Is(err, context.DeadlineExceeded):
		return ErrorResult("The tool took too long and was stopped.")
	}
	c.LogFailure(ctx, err)
	return ErrorResult("The tool failed.")
}

func upperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// callAnswer is an encoded result object of tools/call.
type callAnswer struct {
	json    []byte
	isError bool
}

func (a callAnswer) AppendJSON(dst []byte) []byte { return append(dst, a.json...) }

// encode writes the result for a revision, with what 2026-07-28 asks for.
func (r *CallToolResult) encode(s *Server, rev Revision) (callAnswer, error) {
	dst := make([]byte, 0, 256+r.sizeHint())
	dst = append(dst, '{')
	if rev.Modern() {
		dst = append(dst, `"resultType":"complete",`...)
	}
	dst = append(dst, `"content":[`...)
	var err error
	for i, c := range r.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = c.appendContent(dst, rev); err != nil {
			return callAnswer{}, fmt.Errorf("encode content: %w", err)
		}
	}
	dst = append(dst, ']')
	if r.StructuredContent != nil && rev.structured() {
		dst = append(dst, `,"structuredContent":`...)
		if dst, err = appendValue(dst, r.StructuredContent); err != nil {
			return callAnswer{}, fmt.Errorf("encode structured content: %w", err)
		}
	}
	if r.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	if dst, err = s.appendResultMeta(dst, r.Meta, rev); err != nil {
		return callAnswer{}, err
	}
	return callAnswer{json: append(dst, '}'), isError: r.IsError}, nil
}

// sizeHint estimates the encoded size, so that one buffer mostly does.
func (r *CallToolResult) sizeHint() int {
	n := 0
	for _, c := range r.Content {
		switch c := c.(type) {
		case Text:
			n += len(c.Text) + len(c.Text)/8
		case TextBytes:
			n += len(c) + len(c)/8
		case Image:
			n += len(c.Data) * 4 / 3
		case Audio:
			n += len(c.Data) * 4 / 3
		}
	}
	if raw, ok := r.StructuredContent.(json.RawMessage); ok {
		n += len(raw)
	}
	return n
}

// appendResultMeta writes ,"_meta":{…} with the server's name on 2026-07-28.
func (s *Server) appendResultMeta(dst []byte, meta map[string]any, rev Revision) ([]byte, error) {
	if !rev.Modern() && len(meta) == 0 {
		return dst, nil
	}
	dst = append(dst, `,"_meta":{`...)
	if rev.Modern() {
		dst = append(dst, s.serverInfoMember...)
	}
	if len(meta) > 0 {
		b, err := marshalPlain(meta)
		if err != nil {
			return dst, fmt.Errorf("encode _meta: %w", err)
		}
		if rev.Modern() {
			dst = append(dst, ',')
		}
		dst = append(dst, b[1:len(b)-1]...)
	}
	return append(dst, '}'), nil
}

func appendValue(dst []byte, v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return append(dst, raw...), nil
	}
	b, err := marshalPlain(v)
	return append(dst, b...), err
}

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }
