package mail_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/apptest"
	"gatehouse/app/mail"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

type sender struct {
	mu   sync.Mutex
	sent []mail.Letter
	down error
}

func (s *sender) Send(_ context.Context, l mail.Letter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return s.down
	}
	s.sent = append(s.sent, l)
	return nil
}

func outbox(d *db.DB, clock *dbtest.Clock, s *sender) *mail.Outbox {
	return &mail.Outbox{Store: d, Sender: s, Now: clock.Now, Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Wake: make(chan struct{}, 1),
		Compose: func(ctx context.Context, m mail.Message) (*mail.Letter, error) {
			if m.Kind == "nothing" {
				return nil, nil
			}
			return mail.Write(ctx, m.To, m.Name, mail.Words{Subject: m.Kind, Lines: []string{m.Detail}}), nil
		}}
}

func TestOutbox(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := &sender{down: errors.New("away")}
		o := outbox(d, clock, s)
		for _, kind := range []string{"a", "nothing"} {
			if err := o.Put(t.Context(), mail.Message{Kind: kind, To: "ada@example.org", Name: "Ada\nBcc: eve@example.org", Detail: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		for o.One(t.Context()) {
		}
		s.down = nil
		if o.One(t.Context()) {
			t.Error("what could not be sent is tried again at once")
		}
		clock.Advance(3 * time.Minute)
		for o.One(t.Context()) {
		}
		if len(s.sent) != 1 || s.sent[0].Subject != "a" || strings.Contains(s.sent[0].Text, "\nBcc:") {
			t.Errorf("sent %+v", s.sent)
		}
		s.down = errors.New("away for long")
		if err := o.Put(t.Context(), mail.Message{Kind: "late"}); err != nil {
			t.Fatal(err)
		}
		for range 40 {
			o.One(t.Context())
			clock.Advance(time.Hour)
		}
		s.down = nil
		if o.One(t.Context()) {
			t.Error("a letter is tried for longer than a day")
		}
	})
}

// Two processes send from one outbox: every letter once.
func TestOutboxRace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := &sender{}
		both := []*mail.Outbox{outbox(d, clock, s), outbox(dbtest.Again(t, d, clock.Now), clock, s)}
		for range 10 {
			if err := both[0].Put(t.Context(), mail.Message{Kind: "a", To: "ada@example.org"}); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for n := range 4 {
			wg.Go(func() {
				for range 15 {
					both[n%2].One(t.Context())
				}
			})
		}
		wg.Wait()
		if len(s.sent) != 10 {
			t.Errorf("%d letters for 10", len(s.sent))
		}
	})
}

func TestSMTP(t *testing.T) {
	t.Parallel()
	server := apptest.StartMail(t)
	s, err := mail.ParseURL("smtp://gate:secret@" + server.Address + "?from=gatehouse@home.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), *mail.Write(t.Context(), "ada@example.org", "Ada", mail.Words{Subject: "Grüße", Lines: []string{"One."}, Link: "https://home.example/reset?token=gsr_x"})); err != nil {
		t.Fatal(err)
	}
	got := server.Wait(t, 1)[0]
	for _, want := range []string{"To: <ada@example.org>", "gatehouse@home.example", "Auto-Submitted: auto-generated", "https://home.example/reset?token"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "mail.example", "http://mail.example?from=a@b.example", "smtp://mail.example", "smtp://mail.example?from=x", "smtp://:25?from=a@b.example",
		"smtp://mail.example:0?from=a@b.example", "smtp://u:hidden@mail.example/path?from=a@b.example"} {
		if _, err := mail.ParseURL(bad); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"smtp://mail.example?from=a@b.example", "smtps://u:p%40ss@mail.example:4650/?from=Gate%20%3Ca@b.example%3E"} {
		if _, err := mail.ParseURL(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

func FuzzParseURL(f *testing.F) {
	f.Add("smtp://user:password@mail.example:587?from=gatehouse@home.example")
	f.Fuzz(func(t *testing.T, raw string) {
		if s, err := mail.ParseURL(raw); (s == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", raw, s, err)
		}
	})
}
