package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// ServeHTTP is the Streamable HTTP endpoint, without sessions and without a
// GET stream: one message, or a batch of 2025-03-26, per POST. Mcp-Session-Id
// and Last-Event-ID mean nothing here and are ignored.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := s.started()
	if r.Method != http.MethodPost {
		w.Header()["Allow"] = []string{http.MethodPost}
		s.refuse(w, r, nil, began, http.StatusMethodNotAllowed, invalidRequest("Only POST is served here"))
		return
	}
	if !jsonContent(r.Header) {
		s.refuse(w, r, nil, began, http.StatusUnsupportedMediaType, invalidRequest("Content-Type must be application/json"))
		return
	}
	accept := parseAccept(r.Header["Accept"])
	if !accept.json && !accept.stream {
		s.refuse(w, r, nil, began, http.StatusNotAcceptable, invalidRequest("Accept must allow application/json or text/event-stream"))
		return
	}
	body, status, rerr := s.readBody(r)
	if rerr != nil {
		// Without this the answer waits for the rest of the body, which net/http would like to read first.
		w.Header()["Connection"] = []string{"close"}
		s.refuse(w, r, nil, began, status, rerr)
		return
	}
	if firstByte(body) == '[' {
		s.serveBatch(w, r, body)
		return
	}
	s.serveSingle(w, r, body, accept)
}

// readBody reads at most the limit. The slice belongs to this request alone:
// handlers may keep parts of it.
func (s *Server) readBody(r *http.Request) ([]byte, int, *RPCError) {
	tooLarge := invalidRequest("Request body is larger than " + strconv.FormatInt(s.bodyLimit, 10) + " bytes")
	if r.ContentLength > s.bodyLimit {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	// A declared length is believed up to 64 KiB before the bytes arrive.
	body := make([]byte, 0, min(max(r.ContentLength, 512), 64<<10)+1)
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if int64(len(body)) > s.bodyLimit {
			return nil, http.StatusRequestEntityTooLarge, tooLarge
		}
		if err == io.EOF {
			return body, 0, nil
		}
		if err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return nil, http.StatusRequestEntityTooLarge, tooLarge
			}
			return nil, http.StatusBadRequest, &RPCError{Code: CodeParseError, Message: "Parse error: body could not be read"}
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
}

func firstByte(body []byte) byte {
	sc := scanner{data: body}
	return sc.peek()
}

// serveSingle answers a body that holds one message.
func (s *Server) serveSingle(w http.ResponseWriter, r *http.Request, body []byte, accept accepted) {
	began := s.started()
	m, rerr := s.readMessage(r.Header, body, false)
	if rerr != nil {
		s.refuse(w, r, m, began, http.StatusBadRequest, rerr)
		return
	}
	if m == nil { // a response to a request that was never sent
		w.WriteHeader(http.StatusAccepted)
		return
	}
	out := &responder{w: w, accept: accept}
	m.out = out
	result, err := s.answer(r.Context(), m)
	done := answered{err: err, status: http.StatusOK}
	switch {
	case err != nil:
		done.rpc = s.rpcError(r.Context(), m, err)
		done.status = out.fail(m, err, done.rpc)
	case m.Notification():
		done.status = http.StatusAccepted
		w.WriteHeader(http.StatusAccepted)
	default:
		out.finish(m, result)
	}
	s.report(r.Context(), m, began, done)
}

// refuse answers what never became a message to handle.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, m *Message, began time.Time, status int, rerr *RPCError) {
	var id []byte
	if m != nil {
		id = m.ID
	}
	writeJSON(w, status, appendErrorBody(nil, id, rerr))
	s.report(r.Context(), m, began, answered{status: status, rpc: rerr, err: rerr})
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client went away: nobody is left to tell
}

var jsonType = []string{"application/json"}

// httpStatus is the status of a JSON-RPC error from handling a message. A 2025
// client reads such errors from a 200; a 2026 client from the fitting status.
func httpStatus(code int, rev Revision) int {
	switch code {
	case CodeParseError, CodeInvalidRequest, CodeHeaderMismatch, CodeUnsupportedProtocolVersion, CodeMissingClientCapability:
		return http.StatusBadRequest
	}
	if rev.Modern() {
		switch code {
		case CodeMethodNotFound:
			return http.StatusNotFound
		case CodeInvalidParams:
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

// readMessage parses a message and applies the rules of its era. A nil message
// without an error is a response, which is accepted and dropped.
func (s *Server) readMessage(h http.Header, body []byte, batch bool) (*Message, *RPCError) {
	env, rerr := parseEnvelope(body, s.maxDepth)
	m := &Message{Method: env.method, ID: env.id, Params: env.params, fields: env.fields, header: h}
	if rerr != nil {
		m.Revision = headerRevision(h)
		return m, rerr
	}
	if env.response {
		if headerRevision(h).Modern() {
			return m, invalidRequest("Invalid request: responses are not accepted")
		}
		return nil, nil
	}
	if m.Meta, rerr = parseMeta(env.fields.meta); rerr != nil {
		m.Revision = headerRevision(h)
		return m, rerr
	}
	m.Revision, rerr = decideRevision(h, &env, &m.Meta)
	m.client = m.Meta.clientInfo
	m.setTarget()
	switch {
	case rerr != nil:
		return m, rerr
	case batch && (m.Revision != Revision20250326 || m.Method == methodInitialize):
		return m, invalidRequest("Invalid request: not allowed in a batch")
	case m.Notification() && !isNotification(m.Method):
		return m, invalidRequest("Invalid request: a request needs an id")
	case !m.Revision.Modern():
		return m, nil
	}
	if rerr = checkHeaders(h, m); rerr == nil && !m.Notification() {
		rerr = m.Meta.checkModern()
	}
	return m, rerr
}

// headerRevision guesses the era of a message that could not be read.
func headerRevision(h http.Header) Revision {
	v, _ := single(h, headerVersion)
	rev, _ := parseRevision(v)
	return rev
}

func (m *Message) setTarget() {
	switch {
	case !addressed(m.Method):
	case m.Method == methodResourcesRead && m.fields.hasURI:
		m.Target = string(unquote(m.fields.uri))
	case m.Method != methodResourcesRead && m.fields.hasName:
		m.Target = string(unquote(m.fields.name))
	}
}

// answer runs a message through middleware and its method. A panic anywhere
// in there ends this message alone.
func (s *Server) answer(ctx context.Context, m *Message) (res Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, s.panicked(ctx, m, v)
		}
	}()
	res, err = s.handle(ctx, m)
	if res == nil && err == nil && !m.Notification() {
		err = errors.New("no result for " + m.Method)
	}
	return res, err
}
