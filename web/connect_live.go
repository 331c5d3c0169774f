package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// The person's attempts as they happen, by server-sent events (HTML Living Standard §9.2). Each stream looks at one cheap
// stamp in the database, so that it sees what any process recorded; it keeps nothing but its place among the streams.

const livePath = "/settings/connect/live"

// How a stream lives.
const (
	livePoll  = time.Second      // how often it looks for news
	liveBeat  = 5 * time.Second  // how often it looks whether the session lives, and says something so that proxies keep it
	liveLife  = 10 * time.Minute // after that the page offers to go on
	liveRetry = 3 * time.Second  // how long the browser waits before it comes again
)

// How many streams there may be: a person's, and all of one process.
const (
	livePerPerson = 4
	liveInAll     = 200
)

// livePolicy lets a page run our own script file, which reads the stream.
const livePolicy = "; script-src 'self'; connect-src 'self'"

// streams counts the open streams of this process.
type streams struct {
	mu  sync.Mutex
	all int
	of  map[string]int
}

// take makes room for a stream of the person; the function gives it back. False when there is none.
func (s *streams) take(userID string) (func(), bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= liveInAll || s.of[userID] >= livePerPerson {
		return nil, false
	}
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.all++
	s.of[userID]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.of[userID]--; s.of[userID] == 0 {
			delete(s.of, userID)
		}
	}, true
}

// ConnectLive streams the person's attempts. A stranger gets 204, which tells the browser not to come again.
func (h *Handlers) ConnectLive(c echo.Context) error {
	session := visitOf(c).session
	if session == nil || c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusNoContent)
	}
	release, ok := h.streams.take(session.UserID)
	if !ok {
		retryAfter(c.Response().Header(), liveLife)
		return c.NoContent(http.StatusTooManyRequests)
	}
	defer release()
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/event-stream")
	header.Set("Cache-Control", "no-store, no-transform")
	header.Set("X-Accel-Buffering", "no")
	c.Response().WriteHeader(http.StatusOK)
	s := &stream{h: h, c: c, session: session, flush: http.NewResponseController(c.Response())}
	_ = s.flush.SetReadDeadline(time.Time{}) // the server's limit for reading a request would end the stream too
	if err := s.run(c.Request().Context()); err != nil && c.Request().Context().Err() == nil {
		h.log.WarnContext(c.Request().Context(), "a stream of attempts ended", "cause", err)
	}
	return nil // the answer has begun; there is no other way to tell
}

// stream is one open page that watches.
type stream struct {
	h       *Handlers
	c       echo.Context
	session *account.Session
	flush   *http.ResponseController
	stamp   string
	begun   bool
}

// run sends until the browser leaves, the session ends, the time is up, or the program stops.
func (s *stream) run(ctx context.Context) error {
	poll, beat, end := time.NewTicker(livePoll), time.NewTicker(liveBeat), time.NewTimer(liveLife)
	defer poll.Stop()
	defer beat.Stop()
	defer end.Stop()
	if err := s.write(fmt.Sprintf("retry: %d\n\n", liveRetry.Milliseconds())); err != nil {
		return err
	}
	for {
		if err := s.news(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.h.stopping: // the browser comes again, to whichever process answers then
			return nil
		case <-end.C:
			return s.send("end", "")
		case <-beat.C:
			if ended, err := s.ended(ctx); err != nil || ended {
				return orElseEnd(s, err)
			}
			if err := s.write(": \n\n"); err != nil {
				return err
			}
		case <-poll.C:
		}
	}
}

// orElseEnd tells the browser not to come again, unless something failed.
func orElseEnd(s *stream, err error) error {
	if err != nil {
		return err
	}
	return s.send("end", "")
}

// ended reports whether the session is over. It does not count as a use of it: a forgotten tab must not keep it alive.
func (s *stream) ended(ctx context.Context) (bool, error) {
	list, err := s.h.accounts.Sessions(ctx, s.session.UserID)
	if err != nil {
		return false, err
	}
	for i := range list {
		if list[i].ID == s.session.ID {
			return false, nil
		}
	}
	return true, nil
}

// news sends the attempts when they have changed, the first time in any case: something may have happened since the page
// was made.
func (s *stream) news(ctx context.Context) error {
	stamp, err := s.h.attempts.AttemptsStamp(ctx, s.session.UserID)
	if err != nil || s.begun && stamp == s.stamp {
		return err
	}
	list, err := s.h.attempts.AttemptsOf(ctx, s.session.UserID)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := templates.AttemptCards(s.h.attemptViews(ctx, list)).Render(ctx, &page); err != nil {
		return err
	}
	if err := s.send("attempts", page.String()); err != nil {
		return err
	}
	if s.begun {
		err = s.send("news", latestWords(ctx, list))
	}
	s.stamp, s.begun = stamp, true
	return err
}

// latestWords says what happened last, for whoever hears the page.
func latestWords(ctx context.Context, list []Attempt) string {
	if len(list) == 0 || len(list[0].Steps) == 0 {
		return ""
	}
	last := list[0].Steps[len(list[0].Steps)-1]
	return lang.T(ctx, "{app}: {step}", "app", orElse(list[0].App, lang.T(ctx, "An app")), "step", last.Title)
}

// send writes one event. Every line of its data goes behind a field name of its own.
func (s *stream) send(event, data string) error {
	var b strings.Builder
	b.WriteString("event: " + event + "\n")
	for line := range strings.Lines(data) {
		b.WriteString("data: " + strings.TrimRight(line, "\r\n") + "\n")
	}
	if data == "" {
		b.WriteString("data:\n")
	}
	b.WriteString("\n")
	return s.write(b.String())
}

func (s *stream) write(text string) error {
	if _, err := s.c.Response().Write([]byte(text)); err != nil {
		return err
	}
	return s.flush.Flush()
}
