package mcp

import (
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Header names in the form net/http keeps them.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// single returns a header's value. Several lines that differ are an error:
// two readers could take different ones.
func single(h http.Header, name string) (string, *RPCError) {
	values := h[name]
	if len(values) == 0 {
		return "", nil
	}
	first := strings.Trim(values[0], " \t")
	for _, v := range values[1:] {
		if strings.Trim(v, " \t") != first {
			return "", headerMismatch("Header mismatch: " + name + " is given twice")
		}
	}
	return first, nil
}

// decodeHeader reads a header value in the protocol's encoding: plain text, or
// =?base64?…?= around what a header cannot hold (SEP-2243).
func decodeHeader(v string) (string, bool) {
	inner, found := strings.CutPrefix(v, "=?base64?")
	if found {
		inner, found = strings.CutSuffix(inner, "?=")
	}
	if !found {
		return v, plainHeader(v)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(inner)
	if err != nil || !utf8.Valid(b) || strings.ContainsAny(inner, "\r\n") {
		return "", false
	}
	return string(b), true
}

// plainHeader accepts the characters an unencoded value may have.
func plainHeader(v string) bool {
	for i := range len(v) {
		if c := v[i]; (c < 0x20 && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// decideRevision reads the era of a message from its method, its _meta and
// the version header. The order keeps every refusal readable to a client that
// speaks both eras: it takes a 400 it does not know for an old server.
func decideRevision(h http.Header, env *envelope, meta *Meta) (Revision, *RPCError) {
	header, rerr := single(h, headerVersion)
	if rerr != nil {
		return "", rerr
	}
	if meta.version != nil {
		return decideByMeta(header, meta)
	}
	if header == string(latestModern) {
		if env.id == nil {
			return latestModern, nil // the duties of notifications are not fixed by the protocol
		}
		return latestModern, InvalidParams("Invalid params: _meta lacks " + MetaProtocolVersion)
	}
	if env.method == methodInitialize {
		return latestLegacy, nil // negotiated by its params
	}
	if header == "" {
		return oldestLegacy, nil
	}
	if rev, ok := parseRevision(header); ok {
		return rev, nil
	}
	return "", unsupportedVersion(header)
}

func decideByMeta(header string, meta *Meta) (Revision, *RPCError) {
	if meta.version[0] != '"' {
		return "", InvalidParams("Invalid params: " + MetaProtocolVersion + " must be a string")
	}
	version := string(unquote(meta.version))
	switch {
	case header == "":
		return latestModern, headerMismatch("Header mismatch: MCP-Protocol-Version is missing")
	case header != version:
		return latestModern, headerMismatch("Header mismatch: MCP-Protocol-Version differs from _meta")
	}
	rev, ok := parseRevision(version)
	if !ok {
		return "", unsupportedVersion(version)
	}
	return rev, nil
}

// checkHeaders compares Mcp-Method and Mcp-Name with the body, so that nothing
// in front of this server that went by the headers was misled.
func checkHeaders(h http.Header, m *Message) *RPCError {
	method, rerr := single(h, headerMethod)
	if rerr != nil {
		return rerr
	}
	switch {
	case method == "" && m.Notification():
		return nil
	case method == "":
		return headerMismatch("Header mismatch: Mcp-Method is missing")
	case method != m.Method:
		return headerMismatch("Header mismatch: Mcp-Method differs from the method")
	}
	if !addressed(m.Method) || (!m.fields.hasName && !m.fields.hasURI) {
		return nil // a body without a target is refused as bad params
	}
	raw, rerr := single(h, headerName)
	if rerr != nil {
		return rerr
	}
	if raw == "" {
		return headerMismatch("Header mismatch: Mcp-Name is missing")
	}
	name, ok := decodeHeader(raw)
	if !ok {
		return headerMismatch("Header mismatch: Mcp-Name is malformed")
	}
	if name != m.Target {
		return headerMismatch("Header mismatch: Mcp-Name differs from the request")
	}
	return nil
}

// accepted says which kinds of answer an Accept header allows.
type accepted struct{ json, stream bool }

// parseAccept is lenient: JSON in any form counts, and so does no header.
func parseAccept(values []string) accepted {
	if len(values) == 0 {
		return accepted{json: true}
	}
	if len(values) == 1 && values[0] == "application/json, text/event-stream" {
		return accepted{json: true, stream: true}
	}
	var a accepted
	empty := true
	for _, line := range values {
		for item := range strings.SplitSeq(line, ",") {
			media, params, _ := strings.Cut(item, ";")
			media = strings.ToLower(strings.TrimSpace(media))
			empty = empty && media == ""
			if media == "" || zeroQuality(params) {
				continue
			}
			switch {
			case media == "*/*":
				a = accepted{json: true, stream: true}
			case media == "application/*", media == "application/json", strings.HasSuffix(media, "+json"):
				a.json = true
			case media == "text/*", media == "text/event-stream":
				a.stream = true
			}
		}
	}
	if empty {
		a.json = true
	}
	return a
}

func zeroQuality(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			return strings.Trim(value, "0.") == "" && value != ""
		}
	}
	return false
}

// jsonContent reports whether the body is declared to be JSON.
func jsonContent(h http.Header) bool {
	v := h["Content-Type"]
	if len(v) == 0 {
		return false
	}
	media, _, _ := strings.Cut(v[0], ";")
	return strings.EqualFold(strings.TrimSpace(media), "application/json")
}
