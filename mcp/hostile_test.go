package mcp_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A wrapped ResponseWriter, as routers have it, hides from net/http that the limit was hit.
func TestHoleAnswerToALargeBodyWaitedForItsEnd(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
	}))
	t.Cleanup(srv.Close)
	c, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	const part = 64 << 10
	fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	for range 17 { // more than 1 MiB, and no end
		fmt.Fprintf(c, "%x\r\n%s\r\n", part, strings.Repeat("x", part))
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("X-11 no answer: %v", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("X-11 got %d", res.StatusCode)
	}
}
