package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const maxBody = 1 << 20

// request is one request of a walk.
type request struct {
	method, url, body, agent string
	// header holds names and values in turn.
	header []string
	// secret says that the request carries the token, so that the certificate is verified on its very connection.
	secret bool
}

// answer is what came of a request.
type answer struct {
	url    string
	status int
	header http.Header
	body   []byte
	took   time.Duration
	err    error
}

// newClient makes a client of a walk: it follows no redirect, keeps no cookie, uses no proxy. Certificates are judged by
// the step of that name, so that the steps behind a bad one can still be walked; requests with the token verify.
func (w *walk) newClient(verify bool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:       w.o.Dial,
			ForceAttemptHTTP2: true,
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: !verify, RootCAs: w.o.Roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (w *walk) send(ctx context.Context, r request) *answer {
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	a := &answer{url: r.url}
	began := w.o.Now()
	res, err := w.do(ctx, r)
	if err != nil {
		a.err = err
		return a
	}
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	a.body, a.err = io.ReadAll(io.LimitReader(res.Body, maxBody))
	a.took = w.o.Now().Sub(began)
	return a
}

// do sends a request and returns the open answer.
func (w *walk) do(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", r.agent)
	if r.agent == "" {
		req.Header.Set("User-Agent", "gatehouse-doctor/"+w.o.Version)
	}
	for i := 0; i+1 < len(r.header); i += 2 {
		req.Header.Set(r.header[i], r.header[i+1])
	}
	if r.secret {
		return w.strict.Do(req)
	}
	return w.client.Do(req)
}

func (w *walk) get(ctx context.Context, address, agent string) *answer {
	return w.send(ctx, request{method: http.MethodGet, url: address, agent: agent,
		header: []string{"Accept", "application/json", "MCP-Protocol-Version", "2025-11-25"}})
}

func (w *walk) postForm(ctx context.Context, address, agent string, form url.Values) *answer {
	return w.send(ctx, request{method: http.MethodPost, url: address, agent: agent, body: form.Encode(),
		header: []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "application/json"}})
}

// transport is the fault of a request that got no answer, or an answer that is none: a redirect, a server's failure, a
// page in place of data. It is nil for all others, whatever their status.
func (a *answer) transport() *problem {
	switch {
	case a.err != nil:
		return a.silence()
	case a.status >= 300 && a.status < 400 && a.status != http.StatusNotModified:
		return a.redirect()
	case a.blocked():
		return &problem{finding: "blocked", detail: a.seen(), mend: mendBlocked(a)}
	case a.status >= 500:
		return &problem{finding: "server_error", detail: a.seen(), mend: mendServerError}
	}
	return nil
}

func (a *answer) silence() *problem {
	var timeout net.Error
	if errors.As(a.err, &timeout) && timeout.Timeout() || errors.Is(a.err, context.DeadlineExceeded) {
		return &problem{finding: "timeout", detail: "no complete answer from " + a.url + " in time", mend: mendTimeout}
	}
	cause := a.err
	var wrapped *url.Error
	if errors.As(cause, &wrapped) {
		cause = wrapped.Err
	}
	return &problem{finding: "no_answer", detail: a.url + ": " + cause.Error(), mend: mendNoAnswer}
}

func (a *answer) redirect() *problem {
	to := a.header.Get("Location")
	p := &problem{finding: "redirect", detail: fmt.Sprintf("answers %d to %s", a.status, orNothing(to)), mend: mendRedirect}
	from, err := url.Parse(a.url)
	target, err2 := url.Parse(to)
	if err == nil && err2 == nil && target.Host != "" && !strings.EqualFold(from.Hostname(), target.Hostname()) {
		p.mend = "A login wall or a rule in front sends apps to another host. Exempt this path from it; apps do not follow."
	}
	return p
}

// blocked reports whether something in front refused the request rather than the server itself.
func (a *answer) blocked() bool {
	switch a.status {
	case http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return a.html() || a.header.Get("Cf-Mitigated") != ""
	}
	return false
}

func (a *answer) html() bool {
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return media == "text/html" || strings.HasPrefix(strings.TrimSpace(string(a.body[:min(len(a.body), 64)])), "<")
}

// document reads an answer that must be a JSON object with status 200 into v.
func (a *answer) document(v any) *problem {
	if p := a.transport(); p != nil {
		return p
	}
	switch {
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		return &problem{finding: "missing", detail: a.url + " answers " + a.seen(), mend: mendMissing}
	case a.status == http.StatusUnauthorized:
		return &problem{finding: "protected", detail: a.url + " answers 401", mend: mendProtected}
	case a.status != http.StatusOK:
		return &problem{finding: "status", detail: a.url + " answers " + a.seen(), mend: mendMissing}
	}
	return a.object(v)
}

// object reads a body that must be a JSON object into v.
func (a *answer) object(v any) *problem {
	if a.html() {
		return &problem{finding: "html", detail: a.url + " answers a web page (" + a.seen() + ")", mend: mendHTML}
	}
	if !a.json() {
		return &problem{finding: "content_type", detail: fmt.Sprintf("%s is sent as %s", a.url, orNothing(a.header.Get("Content-Type"))),
			mend: "Send Content-Type: application/json."}
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		return &problem{finding: "not_json", detail: a.url + ": " + err.Error(), mend: "The body must be one JSON object with members of the right types."}
	}
	return nil
}

func (a *answer) json() bool {
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	return err == nil && (media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}

var pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// seen is an answer in a few words: status, and the title or message of its body.
func (a *answer) seen() string {
	text := fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))
	if m := pageTitle.FindSubmatch(a.body); m != nil {
		return text + ", page “" + strings.Join(strings.Fields(string(m[1])), " ") + "”"
	}
	if message := a.message(); message != "" {
		return text + ", “" + message + "”"
	}
	return text
}

// message is the text of a JSON error, of OAuth's kind or JSON-RPC's.
func (a *answer) message() string {
	var e struct {
		Error       json.RawMessage `json:"error"`
		Description string          `json:"error_description"`
	}
	if json.Unmarshal(a.body, &e) != nil {
		return ""
	}
	var rpc struct {
		Message string `json:"message"`
	}
	var code string
	switch {
	case json.Unmarshal(e.Error, &rpc) == nil && rpc.Message != "":
		return rpc.Message
	case json.Unmarshal(e.Error, &code) == nil && e.Description != "":
		return code + ": " + e.Description
	}
	return code
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
