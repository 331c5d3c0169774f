package mcp

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// envelope is a JSON-RPC 2.0 message as read from the body.
type envelope struct {
	id       json.RawMessage
	method   string
	params   json.RawMessage
	fields   paramFields
	response bool // has result or error and no method
}

// paramFields are the members of params this package reads, found in the same pass.
type paramFields struct {
	meta, arguments, cursor, uri, name json.RawMessage
	hasName, hasURI                    bool // and they are strings
	repeated                           bool
}

// maxMembers bounds the members of an envelope: duplicates are found by
// comparing each name with those before it.
const maxMembers = 32

// parseEnvelope reads one message. With an error, the envelope holds the id
// if that much could be read.
func parseEnvelope(data []byte, maxDepth int) (envelope, *RPCError) {
	var env envelope
	if !utf8.Valid(data) {
		return env, &RPCError{Code: CodeParseError, Message: "Parse error: body is not UTF-8"}
	}
	p := envelopeParser{scanner: scanner{data: data, depth: maxDepth}, env: &env}
	if p.peek() != '{' {
		if _, err := p.value(); err != nil || p.peek() != 0 {
			return env, parseError(err)
		}
		return env, invalidRequest("Invalid request: body is not an object")
	}
	if err := p.object(p.member); err != nil {
		return env, parseError(err)
	}
	if p.peek() != 0 || p.pos != len(data) {
		return envelope{}, &RPCError{Code: CodeParseError, Message: "Parse error: text after the message"}
	}
	return env, p.verdict()
}

func parseError(err error) *RPCError {
	if errors.Is(err, errDepth) {
		return invalidRequest("Invalid request: nested too deeply")
	}
	return &RPCError{Code: CodeParseError, Message: "Parse error"}
}

type envelopeParser struct {
	scanner
	env *envelope

	keys                     [maxMembers][]byte
	count                    int
	tooMany, repeated        bool
	version, idText, rawMeth []byte
	result, fault            bool
}

func (p *envelopeParser) member(key []byte) error {
	name := unquote(key)
	for _, seen := range p.keys[:p.count] {
		p.repeated = p.repeated || string(seen) == string(name)
	}
	if p.count < maxMembers {
		p.keys[p.count] = name
		p.count++
	} else {
		p.tooMany = true
	}
	var err error
	switch string(name) {
	case "params":
		return p.params()
	case "jsonrpc":
		p.version, err = p.value()
	case "id":
		p.idText, err = p.value()
	case "method":
		p.rawMeth, err = p.value()
	case "result":
		p.result = true
		_, err = p.value()
	case "error":
		p.fault = true
		_, err = p.value()
	default:
		_, err = p.value()
	}
	return err
}

// params reads the params in place, keeping the members that matter.
func (p *envelopeParser) params() error {
	if p.peek() != '{' {
		text, err := p.value()
		p.env.params = text
		return err
	}
	start := p.pos
	f := &p.env.fields
	err := p.object(func(key []byte) error {
		text, err := p.value()
		if err != nil {
			return err
		}
		slot := f.slot(unquote(key))
		if slot == nil {
			return nil
		}
		f.repeated = f.repeated || *slot != nil
		*slot = text
		return nil
	})
	if err != nil {
		return err
	}
	f.hasName = len(f.name) > 0 && f.name[0] == '"'
	f.hasURI = len(f.uri) > 0 && f.uri[0] == '"'
	p.env.params = p.data[start:p.pos]
	return nil
}

func (f *paramFields) slot(name []byte) *json.RawMessage {
	switch string(name) {
	case "_meta":
		return &f.meta
	case "name":
		return &f.name
	case "arguments":
		return &f.arguments
	case "uri":
		return &f.uri
	case "cursor":
		return &f.cursor
	}
	return nil
}

// verdict judges the envelope once all of it was seen.
func (p *envelopeParser) verdict() *RPCError {
	env := p.env
	idOK := p.idText == nil
	if !p.repeated && validID(p.idText) {
		env.id, idOK = p.idText, true
	}
	switch {
	case p.repeated:
		return invalidRequest("Invalid request: a member is given twice")
	case p.tooMany:
		return invalidRequest("Invalid request: too many members")
	case string(p.version) != `"2.0"`:
		return invalidRequest(`Invalid request: jsonrpc must be "2.0"`)
	case !idOK:
		return invalidRequest("Invalid request: id must be a string or an integer")
	case p.rawMeth == nil && (p.result || p.fault):
		env.response = true
		return nil
	case len(p.rawMeth) < 3 || p.rawMeth[0] != '"':
		return invalidRequest("Invalid request: method must be a string")
	case p.result || p.fault:
		return invalidRequest("Invalid request: both a method and an outcome")
	}
	env.method = methodString(unquote(p.rawMeth))
	return p.checkParams()
}

func (p *envelopeParser) checkParams() *RPCError {
	env := p.env
	if string(env.params) == "null" {
		env.params = nil
	}
	if env.params != nil && env.params[0] != '{' {
		return InvalidParams("Invalid params: params must be an object")
	}
	if env.fields.repeated {
		return InvalidParams("Invalid params: a member is given twice")
	}
	return nil
}

// validID accepts what the protocol does: a string or an integer.
func validID(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if text[0] == '"' {
		return true
	}
	if text[0] == '-' {
		text = text[1:]
	}
	return len(text) > 0 && digits(text) == len(text)
}
