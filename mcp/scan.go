package mcp

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	errSyntax = errors.New("not valid JSON")
	errDepth  = errors.New("nested too deeply")
)

// scanner walks JSON text once, checking its grammar (RFC 8259) and depth and
// handing out the raw text of values. It allocates nothing.
type scanner struct {
	data  []byte
	pos   int
	depth int // how many more levels may open
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek is the next byte that is not white space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos == len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// value skips one value and returns its text.
func (s *scanner) value() ([]byte, error) {
	c := s.peek()
	start := s.pos
	var err error
	switch c {
	case '{':
		err = s.object(func([]byte) error { _, err := s.value(); return err })
	case '[':
		err = s.array(func() error { _, err := s.value(); return err })
	case '"':
		_, err = s.str()
	case 't':
		err = s.literal("true")
	case 'f':
		err = s.literal("false")
	case 'n':
		err = s.literal("null")
	default:
		err = s.number()
	}
	if err != nil {
		return nil, err
	}
	return s.data[start:s.pos], nil
}

// object walks an object. member gets the key's text, quotes included, and
// must consume the value.
func (s *scanner) object(member func(key []byte) error) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.peek() == '}' {
		return s.close()
	}
	for {
		if s.peek() != '"' {
			return errSyntax
		}
		key, err := s.str()
		if err != nil {
			return err
		}
		if s.peek() != ':' {
			return errSyntax
		}
		s.pos++
		if err := member(key); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			return s.close()
		default:
			return errSyntax
		}
	}
}

// array walks an array; element must consume the value.
func (s *scanner) array(element func() error) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.peek() == ']' {
		return s.close()
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			return s.close()
		default:
			return errSyntax
		}
	}
}

func (s *scanner) open() error {
	if s.depth == 0 {
		return errDepth
	}
	s.depth--
	s.pos++
	return nil
}

func (s *scanner) close() error {
	s.depth++
	s.pos++
	return nil
}

// str skips a string and returns its text with the quotes.
func (s *scanner) str() ([]byte, error) {
	start := s.pos
	for i := start + 1; i < len(s.data); {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return s.data[start:s.pos], nil
		case c == '\\':
			n := escapeLen(s.data[i:])
			if n == 0 {
				return nil, errSyntax
			}
			i += n
		case c < 0x20:
			return nil, errSyntax
		default:
			i++
		}
	}
	return nil, errSyntax
}

// escapeLen is the length of the escape b starts with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hex4(b[2:6]) >= 0 {
			return 6
		}
	}
	return 0
}

func (s *scanner) literal(word string) error {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		return errSyntax
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) number() error {
	i := s.pos
	if i < len(s.data) && s.data[i] == '-' {
		i++
	}
	switch n := digits(s.data[i:]); {
	case n == 0, n > 1 && s.data[i] == '0':
		return errSyntax
	default:
		i += n
	}
	if i < len(s.data) && s.data[i] == '.' {
		n := digits(s.data[i+1:])
		if n == 0 {
			return errSyntax
		}
		i += 1 + n
	}
	if i < len(s.data) && (s.data[i] == 'e' || s.data[i] == 'E') {
		i++
		if i < len(s.data) && (s.data[i] == '+' || s.data[i] == '-') {
			i++
		}
		n := digits(s.data[i:])
		if n == 0 {
			return errSyntax
		}
		i += n
	}
	s.pos = i
	return nil
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

// unquote returns what a string's text means. Without escapes it is the text itself.
func unquote(text []byte) []byte {
	in := text[1 : len(text)-1]
	for i, c := range in {
		if c == '\\' {
			return unescape(in, i)
		}
	}
	return in
}

func unescape(in []byte, from int) []byte {
	out := append(make([]byte, 0, len(in)), in[:from]...)
	for i := from; i < len(in); {
		if in[i] != '\\' {
			out = append(out, in[i])
			i++
			continue
		}
		switch c := in[i+1]; c {
		case 'u':
			r, n := unescapeRune(in[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
		i += 2
	}
	return out
}

// unescapeRune reads \uXXXX, or two of them that are a surrogate pair.
func unescapeRune(b []byte) (rune, int) {
	r := hex4(b[2:6])
	if utf16.IsSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(b[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6 // utf8.AppendRune makes U+FFFD of a lone surrogate
}

func hex4(b []byte) rune {
	var r rune
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
