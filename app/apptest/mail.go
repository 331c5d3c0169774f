package apptest

import (
	"bufio"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Mail is a mail server on this computer that keeps what it is given.
type Mail struct {
	Address string

	mu      sync.Mutex
	letters []string
}

// StartMail starts a mail server.
func StartMail(t testing.TB) *Mail {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	m := &Mail{Address: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(c)
		}
	}()
	return m
}

func (m *Mail) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	say := func(line string) { _, _ = fmt.Fprint(c, line+"\r\n") }
	say("220 mail ESMTP")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(line)), " "); verb {
		case "EHLO":
			say("250-mail\r\n250-8BITMIME\r\n250 AUTH PLAIN")
		case "AUTH":
			say("235 ok")
		case "DATA":
			say("354 go on")
			var b strings.Builder
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				b.WriteString(line)
			}
			m.keep(b.String())
			say("250 ok")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// keep stores a letter with its text decoded.
func (m *Mail) keep(letter string) {
	head, body, _ := strings.Cut(letter, "\r\n\r\n")
	if text, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(body))); err == nil {
		body = string(text)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.letters = append(m.letters, head+"\r\n\r\n"+body)
}

// Wait waits until there are n letters and gives all.
func (m *Mail) Wait(t testing.TB, n int) []string {
	t.Helper()
	for range 400 {
		m.mu.Lock()
		got := append([]string{}, m.letters...)
		m.mu.Unlock()
		if len(got) >= n {
			return got
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("no letter number %d came", n)
	return nil
}
