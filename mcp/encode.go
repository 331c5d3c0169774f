package mcp

import (
	"encoding/json"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString writes s as a JSON string. Invalid UTF-8 becomes U+FFFD, and
// U+2028/2029 are escaped for readers that take JSON for JavaScript.
func appendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
		if (r == utf8.RuneError && size == 1) || r == '\u2028' || r == '\u2029' {
			dst = append(dst, s[start:i]...)
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			start = i + size
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendOptional writes ,"key":"value" unless the value is empty.
func appendOptional(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	return appendString(dst, value)
}

// appendErrorBody writes a JSON-RPC error. An id that could not be read is
// left out: the protocol's schema has no null id.
func appendErrorBody(dst []byte, id json.RawMessage, e *RPCError) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if id != nil {
		dst = append(append(append(dst, `"id":`...), id...), ',')
	}
	dst = append(dst, `"error":{"code":`...)
	dst = appendInt(dst, e.Code)
	dst = appendString(append(dst, `,"message":`...), e.Message)
	if e.Data != nil {
		if b, err := marshalPlain(e.Data); err == nil {
			dst = append(append(dst, `,"data":`...), b...)
		}
	}
	return append(dst, '}', '}')
}

func appendResultBody(dst []byte, id json.RawMessage, r Result) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	dst = r.AppendJSON(append(dst, `,"result":`...))
	return append(dst, '}')
}
