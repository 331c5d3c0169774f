package mcp

import (
	"encoding/json"
	"errors"
)

// Keys of _meta the protocol gives a meaning.
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
)

// Meta is a request's _meta.
type Meta struct {
	Raw                json.RawMessage // the whole object, nil when absent
	ProgressToken      json.RawMessage // a string or a number, nil when absent
	ClientCapabilities json.RawMessage // an object; nil before 2026-07-28
	LogLevel           LogLevel        // "" when the client asked for no log messages

	version    json.RawMessage
	clientInfo json.RawMessage
	logLevel   json.RawMessage
}

// Get returns one member, or nil.
func (m Meta) Get(key string) json.RawMessage {
	var found json.RawMessage
	if m.Raw == nil {
		return nil
	}
	sc := scanner{data: m.Raw, depth: len(m.Raw)}
	_ = sc.object(func(k []byte) error {
		text, err := sc.value()
		if err == nil && string(unquote(k)) == key {
			found = text
		}
		return err
	})
	return found
}

var errRepeated = errors.New("a member is given twice")

// parseMeta reads a _meta that is known to be valid JSON.
func parseMeta(text json.RawMessage) (Meta, *RPCError) {
	m := Meta{Raw: text}
	if text == nil || string(text) == "null" {
		return Meta{}, nil
	}
	if text[0] != '{' {
		return Meta{}, InvalidParams("Invalid params: _meta must be an object")
	}
	sc := scanner{data: text, depth: len(text)}
	err := sc.object(func(key []byte) error {
		value, err := sc.value()
		if err != nil {
			return err
		}
		slot := m.slot(unquote(key))
		if slot == nil {
			return nil
		}
		if *slot != nil {
			return errRepeated
		}
		*slot = value
		return nil
	})
	if err != nil {
		return Meta{}, InvalidParams("Invalid params: _meta: " + err.Error())
	}
	if c := m.ProgressToken; c != nil && c[0] != '"' && c[0] != '-' && (c[0] < '0' || c[0] > '9') {
		m.ProgressToken = nil
	}
	return m, nil
}

func (m *Meta) slot(key []byte) *json.RawMessage {
	switch string(key) {
	case MetaProtocolVersion:
		return &m.version
	case MetaClientCapabilities:
		return &m.ClientCapabilities
	case MetaClientInfo:
		return &m.clientInfo
	case MetaLogLevel:
		return &m.logLevel
	case "progressToken":
		return &m.ProgressToken
	}
	return nil
}

// checkModern holds _meta against what 2026-07-28 requires of a request.
func (m *Meta) checkModern() *RPCError {
	switch {
	case m.ClientCapabilities == nil:
		return InvalidParams("Invalid params: _meta lacks " + MetaClientCapabilities)
	case m.ClientCapabilities[0] != '{':
		return InvalidParams("Invalid params: " + MetaClientCapabilities + " must be an object")
	case m.clientInfo != nil && m.clientInfo[0] != '{':
		return InvalidParams("Invalid params: " + MetaClientInfo + " must be an object")
	}
	if m.logLevel != nil {
		level, ok := parseLogLevel(m.logLevel)
		if !ok {
			return InvalidParams("Invalid params: " + MetaLogLevel + " is not a log level")
		}
		m.LogLevel = level
	}
	return nil
}

// LogLevel is a severity of RFC 5424 as the protocol spells it.
type LogLevel string

// The severities, least first.
const (
	LogDebug     LogLevel = "debug"
	LogInfo      LogLevel = "info"
	LogNotice    LogLevel = "notice"
	LogWarning   LogLevel = "warning"
	LogError     LogLevel = "error"
	LogCritical  LogLevel = "critical"
	LogAlert     LogLevel = "alert"
	LogEmergency LogLevel = "emergency"
)

var logLevels = []LogLevel{LogDebug, LogInfo, LogNotice, LogWarning, LogError, LogCritical, LogAlert, LogEmergency}

// severity is the level's rank, -1 for no level.
func (l LogLevel) severity() int {
	for i, known := range logLevels {
		if l == known {
			return i
		}
	}
	return -1
}

func parseLogLevel(text json.RawMessage) (LogLevel, bool) {
	if len(text) < 2 || text[0] != '"' {
		return "", false
	}
	level := LogLevel(unquote(text))
	return level, level.severity() >= 0
}
