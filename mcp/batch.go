package mcp

import (
	"errors"
	"net/http"
)

// maxBatch bounds the messages of one batch.
const maxBatch = 100

// serveBatch answers an array of messages. Only 2025-03-26 has batches
// (basic, "Receiving JSON-RPC batches"); they are answered in order as one
// JSON array.
func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request, body []byte) {
	began := s.started()
	parts, rerr := splitBatch(body, s.maxDepth)
	if rev := headerRevision(r.Header); rerr == nil && rev != Revision20250326 && r.Header[headerVersion] != nil {
		rerr = invalidRequest("Invalid request: batches are not served on this revision")
	}
	if rerr != nil {
		s.refuse(w, r, nil, began, http.StatusBadRequest, rerr)
		return
	}
	out := []byte{'['}
	var refusals batchRefusals
	for _, part := range parts {
		var one []byte
		one, err := s.batchPart(r, part)
		if one == nil {
			continue
		}
		refusals.note(err)
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, one...)
	}
	if len(out) == 1 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	writeJSON(w, refusals.status(w.Header()), append(out, ']'))
}

// batchPart answers one message of a batch; nil for no answer.
func (s *Server) batchPart(r *http.Request, part []byte) ([]byte, error) {
	began := s.started()
	m, rerr := s.readMessage(r.Header, part, true)
	if rerr != nil {
		s.report(r.Context(), m, began, answered{status: http.StatusOK, rpc: rerr, err: rerr})
		return appendErrorBody(nil, m.ID, rerr), rerr
	}
	if m == nil {
		return nil, nil
	}
	result, err := s.answer(r.Context(), m)
	done := answered{status: http.StatusOK, err: err}
	if err != nil {
		done.rpc = s.rpcError(r.Context(), m, err)
	}
	s.report(r.Context(), m, began, done)
	switch {
	case m.Notification():
		return nil, nil
	case err != nil:
		return appendErrorBody(nil, m.ID, done.rpc), err
	}
	return appendResultBody(nil, m.ID, result), nil
}

// batchRefusals decides the status of a batch: that of the first refusal when
// every answer is one, for there is only one status line; else 200.
type batchRefusals struct {
	first *HTTPRefusal
	mixed bool
}

func (b *batchRefusals) note(err error) {
	refusal, ok := errors.AsType[*HTTPRefusal](err)
	switch {
	case !ok:
		b.mixed = true
	case b.first == nil:
		b.first = refusal
	}
}

func (b *batchRefusals) status(h http.Header) int {
	if b.mixed || b.first == nil {
		return http.StatusOK
	}
	for name, values := range b.first.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return b.first.Status
}

// splitBatch cuts an array into the texts of its elements.
func splitBatch(body []byte, maxDepth int) ([][]byte, *RPCError) {
	var parts [][]byte
	sc := scanner{data: body, depth: maxDepth + 1}
	sc.space()
	err := sc.array(func() error {
		text, err := sc.value()
		if err == nil && len(parts) <= maxBatch {
			parts = append(parts, text)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, parseError(err)
	case sc.peek() != 0 || sc.pos != len(body):
		return nil, &RPCError{Code: CodeParseError, Message: "Parse error: text after the message"}
	case len(parts) == 0:
		return nil, invalidRequest("Invalid request: empty batch")
	case len(parts) > maxBatch:
		return nil, invalidRequest("Invalid request: batch is too long")
	}
	return parts, nil
}
