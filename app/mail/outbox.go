package mail

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"
)

// Message is something to be sent.
type Message struct {
	// Kind says what; To is the address.
	Kind string `json:"kind"`
	To   string `json:"to"`
	// Name is the person's, Locale their language.
	Name   string `json:"name,omitempty"`
	Locale string `json:"locale,omitempty"`
	// UserID and Ref name what the message is about; Detail is a short fact.
	UserID string `json:"user_id,omitempty"`
	Ref    string `json:"ref,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Entry is a message in the outbox.
type Entry struct {
	ID       string
	Message  string
	Attempts int
	Created  time.Time
}

// Store keeps the outbox.
type Store interface {
	// AddMail writes an entry that is due at once.
	AddMail(ctx context.Context, e Entry) error
	// TakeMail claims the entry that has been due the longest until the given time, by one conditional update; nil when
	// none is due.
	TakeMail(ctx context.Context, now, until time.Time) (*Entry, error)
	// RetryMail makes an entry due at a time; DropMail removes it.
	RetryMail(ctx context.Context, id string, at time.Time) error
	DropMail(ctx context.Context, id string) error
}

// Sender hands a letter to the mail server.
type Sender interface {
	Send(ctx context.Context, l Letter) error
}

// Compose makes the letter of a message; nil when there is nothing to send (any more).
type Compose func(ctx context.Context, m Message) (*Letter, error)

// Outbox keeps and sends messages. It is safe for concurrent use.
type Outbox struct {
	Store   Store
	Sender  Sender
	Compose Compose
	Now     func() time.Time
	Rand    io.Reader
	Log     *slog.Logger
	// Wake is told that there is something to send; it has room for one.
	Wake chan struct{}
}

// How long an entry is tried, how long a claim holds, and how often the outbox is looked at without being told.
const (
	giveUp = 24 * time.Hour
	lease  = 2 * time.Minute
	Look   = 15 * time.Second
)

// Put writes a message into the outbox.
func (o *Outbox) Put(ctx context.Context, m Message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("put mail: %w", err)
	}
	id, err := uuid.NewRandomFromReader(o.Rand)
	if err != nil {
		return fmt.Errorf("put mail: %w", err)
	}
	if err := o.Store.AddMail(ctx, Entry{ID: id.String(), Message: string(text), Created: o.Now().UTC()}); err != nil {
		return fmt.Errorf("put mail: %w", err)
	}
	select {
	case o.Wake <- struct{}{}:
	default:
	}
	return nil
}

// Run sends what is due, until ctx ends.
func (o *Outbox) Run(ctx context.Context) {
	tick := time.NewTicker(Look)
	defer tick.Stop()
	for {
		for o.One(ctx) && ctx.Err() == nil {
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-o.Wake:
		}
	}
}

// One sends one message that is due; it reports false when there is none.
func (o *Outbox) One(ctx context.Context) bool {
	now := o.Now().UTC()
	e, err := o.Store.TakeMail(ctx, now, now.Add(lease))
	if err != nil {
		if ctx.Err() == nil {
			o.Log.Error("outbox cannot be read; it is tried again", "cause", err)
		}
		return false
	}
	if e == nil {
		return false
	}
	if err := o.deliver(ctx, e); err != nil {
		o.later(ctx, e, err)
		return true
	}
	if err := o.Store.DropMail(ctx, e.ID); err != nil {
		o.Log.Error("mail was sent and stays in the outbox", "id", e.ID, "cause", err)
	}
	return true
}

func (o *Outbox) deliver(ctx context.Context, e *Entry) error {
	var m Message
	if err := json.Unmarshal([]byte(e.Message), &m); err != nil {
		return fmt.Errorf("read message: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lease/2)
	defer cancel()
	letter, err := o.Compose(ctx, m)
	if err != nil || letter == nil {
		return err
	}
	return o.Sender.Send(ctx, *letter)
}

// later puts a message back, with growing pauses; after a day it is given up.
func (o *Outbox) later(ctx context.Context, e *Entry, cause error) {
	now := o.Now().UTC()
	if now.Sub(e.Created) > giveUp {
		o.Log.Error("mail could not be sent for a day and is given up", "id", e.ID, "attempts", e.Attempts, "cause", cause)
		if err := o.Store.DropMail(ctx, e.ID); err != nil {
			o.Log.Error("outbox cannot be written", "cause", err)
		}
		return
	}
	pause := min(time.Minute<<min(e.Attempts, 6), time.Hour)
	o.Log.Warn("mail could not be sent; it is tried again", "id", e.ID, "attempts", e.Attempts, "in", pause.String(), "cause", cause)
	if err := o.Store.RetryMail(ctx, e.ID, now.Add(pause)); err != nil && ctx.Err() == nil {
		o.Log.Error("outbox cannot be written", "cause", err)
	}
}
