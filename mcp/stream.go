package mcp

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"sync"
)

// responder writes the answer to one message. It begins as plain JSON and
// turns into an event stream with the first notification, if the client
// accepts one: until then every HTTP status is still open.
type responder struct {
	w      http.ResponseWriter
	accept accepted

	mu      sync.Mutex
	started bool // the stream's header is out
	ended   bool
}

// notify sends a notification ahead of the answer. It is dropped when the
// client takes no stream or the answer is out already.
func (o *responder) notify(frame []byte) {
	if o == nil || !o.accept.stream {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.event(frame)
}

// event writes one server-sent event and flushes it.
func (o *responder) event(frame []byte) {
	if !o.started {
		h := o.w.Header()
		h["Content-Type"] = []string{"text/event-stream"}
		h["Cache-Control"] = []string{"no-cache"}
		h["X-Accel-Buffering"] = []string{"no"} // or nginx holds the events back
		o.w.WriteHeader(http.StatusOK)
		o.started = true
	}
	buf := make([]byte, 0, len(frame)+32)
	buf = append(buf, "event: message\ndata: "...)
	buf = append(buf, oneLine(frame)...)
	buf = append(buf, '\n', '\n')
	_, _ = o.w.Write(buf) // a client gone is seen by the request's context
	_ = http.NewResponseController(o.w).Flush()
}

// oneLine replaces line breaks, which in JSON can only be white space: in an
// event they would end the data.
func oneLine(frame []byte) []byte {
	if bytes.IndexByte(frame, '\n') < 0 && bytes.IndexByte(frame, '\r') < 0 {
		return frame
	}
	out := bytes.ReplaceAll(frame, []byte{'\n'}, []byte{' '})
	return bytes.ReplaceAll(out, []byte{'\r'}, []byte{' '})
}

// finish sends the result.
func (o *responder) finish(m *Message, result Result) {
	buf := buffers.Get().(*[]byte)
	*buf = appendResultBody((*buf)[:0], m.ID, result)
	o.end(http.StatusOK, *buf)
	recycle(buf)
}

// fail sends an error and returns the status it went out with.
func (o *responder) fail(m *Message, err error, rpc *RPCError) int {
	status := httpStatus(rpc.Code, m.Revision)
	if refusal, ok := errors.AsType[*HTTPRefusal](err); ok {
		status = refusal.Status
		for name, values := range refusal.Header {
			o.w.Header()[http.CanonicalHeaderKey(name)] = values
		}
	}
	return o.end(status, appendErrorBody(nil, m.ID, rpc))
}

// end writes the last message, as an event when the stream has begun or when
// the client takes nothing else.
func (o *responder) end(status int, body []byte) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.started || (status == http.StatusOK && !o.accept.json) {
		o.event(body)
		return http.StatusOK
	}
	writeJSON(o.w, status, body)
	return status
}

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// recycle keeps buffers of a common size; a huge one goes to the collector.
func recycle(buf *[]byte) {
	if cap(*buf) <= 256<<10 {
		buffers.Put(buf)
	}
}

// Progress tells the client how far the call is. Without a progress token in
// the request, or with a value that does not grow, nothing is sent. total 0
// means unknown.
func (c *Call) Progress(progress, total float64, message string) {
	token := c.msg.Meta.ProgressToken
	if token == nil || c.msg.out == nil {
		return
	}
	c.progressMu.Lock()
	defer c.progressMu.Unlock()
	if c.progressed && progress <= c.lastProgress {
		return
	}
	c.progressed, c.lastProgress = true, progress
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), token...)
	b = append(b, `,"progress":`...)
	b = strconv.AppendFloat(b, progress, 'f', -1, 64)
	if total > 0 {
		b = append(b, `,"total":`...)
		b = strconv.AppendFloat(b, total, 'f', -1, 64)
	}
	b = appendOptional(b, "message", message)
	c.msg.out.notify(append(b, '}', '}'))
}

// Log sends a log message to the client: on 2026-07-28 if the request asked
// for this level, before that from "info" up. The server must declare
// [Capabilities].Logging.
func (c *Call) Log(level LogLevel, logger string, data any) {
	floor := c.msg.Meta.LogLevel
	if !c.msg.Revision.Modern() {
		floor = LogInfo // no state to remember logging/setLevel in
	}
	if !c.srv.caps.Logging || floor == "" || level.severity() < floor.severity() {
		return
	}
	value, err := marshalPlain(data)
	if err != nil {
		value = []byte(`"unencodable log data"`)
	}
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"`), level...)
	b = append(b, '"')
	b = appendOptional(b, "logger", logger)
	b = append(append(b, `,"data":`...), value...)
	c.msg.out.notify(append(b, '}', '}'))
}
