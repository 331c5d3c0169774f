package handshake

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Window is for how long events of one source, or of one client, belong together when nothing firmer ties them.
const Window = 10 * time.Minute

// MaxSteps is the greatest number of steps kept of one attempt.
const MaxSteps = 60

// KeepFor is for how long attempts are kept.
const KeepFor = 14 * 24 * time.Hour

// MaxStrangers is the greatest number of attempts kept that no person is tied to. Anybody can make such attempts.
const MaxStrangers = 20_000

// ErrNotFound says that there is no such attempt, or that it is somebody else's.
var ErrNotFound = errors.New("handshake: not found")

// Attempt is one try of an app to connect.
type Attempt struct {
	ID           string
	StartedAt    time.Time
	LastAt       time.Time
	IP           string
	UserAgent    string
	ClientID     string
	ClientName   string
	RequestID    string
	ConnectionID string
	UserID       string
	Resource     string
	// Reached is the last step that succeeded.
	Reached string
	// Failed says that the latest step was refused; Reason says why.
	Failed bool
	Reason string
	// Steps are set when one attempt is asked for.
	Steps []AttemptStep
}

// Done reports whether the app came through: it holds tokens.
func (a *Attempt) Done() bool { return a.ConnectionID != "" && !a.Failed }

// Fetched reports whether the app once fetched its tokens. It needs the steps.
func (a *Attempt) Fetched() bool {
	return slices.ContainsFunc(a.Steps, func(s AttemptStep) bool { return s.Step == StepCodeRedeemed && s.OK })
}

// endings are the checks that refuse a renewal because what was approved had come to its end: nothing went wrong.
var endings = []string{
	"account", "resource_gone", "connection_ended", "connection_expired", "family_ended", "family_limit", "refresh_expired", "refresh_reuse",
}

// Ended reports whether the app was connected until what was approved came to its end, as its last renewal shows. It
// needs the steps.
func (a *Attempt) Ended() bool {
	if len(a.Steps) == 0 {
		return false
	}
	last := a.Steps[len(a.Steps)-1]
	renewal := last.Step == StepTokenRefreshed || last.Step == StepTokenGranted || last.Step == StepReuseDetected
	return renewal && !last.OK && slices.Contains(endings, last.Check)
}

// AttemptStep is one step of an attempt.
type AttemptStep struct {
	At       time.Time
	Step     string
	OK       bool
	Check    string
	Reason   string
	Detail   string
	Duration time.Duration
	// Advice is what to do about a failure.
	Advice string
}

// Filter says which attempts to list, the latest first. Empty fields do not narrow.
type Filter struct {
	UserID string
	// Client is a client's id or a part of its name; Address the caller's.
	Client, Address string
	// Failed lists those whose latest step was refused.
	Failed        bool
	Offset, Limit int
}

// Store keeps attempts.
type Store interface {
	// SaveHandshakes stores events in their order, each tied to its attempt. newID makes the ids of
	// new attempts.
	SaveHandshakes(ctx context.Context, events []Event, newID func(at time.Time) (string, error)) error
	// Handshakes lists attempts without their steps.
	Handshakes(ctx context.Context, f Filter) ([]Attempt, error)
	// HandshakeStamp changes whenever an attempt of the person does.
	HandshakeStamp(ctx context.Context, userID string) (string, error)
	// Handshake gives one attempt with its steps by its id, its request's correlation id, or the id of an HTTP request
	// that was a step of it, or ErrNotFound.
	Handshake(ctx context.Context, id string) (*Attempt, error)
	// SweepHandshakes deletes attempts whose last step is older, and the oldest of those without a person beyond
	// MaxStrangers. It gives the number deleted for their age.
	SweepHandshakes(ctx context.Context, before time.Time) (int, error)
}

// Service shows the record.
type Service struct {
	Store Store
	Now   func() time.Time
}

// listed is the number of attempts that a list shows.
const listed = 50

// List lists a person's own attempts.
func (s *Service) List(ctx context.Context, userID string) ([]Attempt, error) {
	if userID == "" {
		return nil, ErrNotFound
	}
	return s.Store.Handshakes(ctx, Filter{UserID: userID, Limit: listed})
}

// ListAll lists everybody's attempts, for administrators.
func (s *Service) ListAll(ctx context.Context, limit int) ([]Attempt, error) {
	return s.Store.Handshakes(ctx, Filter{Limit: limit})
}

// Find lists everybody's attempts, for administrators. more says that the list goes on behind the limit.
func (s *Service) Find(ctx context.Context, f Filter) (list []Attempt, more bool, err error) {
	want := f.Limit
	f.Limit++
	list, err = s.Store.Handshakes(ctx, f)
	if err != nil {
		return nil, false, err
	}
	return list[:min(len(list), want)], len(list) > want, nil
}

// Stamp changes whenever an attempt of the person does: whoever watches need not read more as long as it stays.
func (s *Service) Stamp(ctx context.Context, userID string) (string, error) {
	return s.Store.HandshakeStamp(ctx, userID)
}

// Show gives one of a person's own attempts with its steps.
func (s *Service) Show(ctx context.Context, userID, id string) (*Attempt, error) {
	a, err := s.ShowAny(ctx, id)
	if err != nil {
		return nil, err
	}
	if userID == "" || a.UserID != userID {
		return nil, ErrNotFound
	}
	return a, nil
}

// ShowAny gives anybody's attempt, for administrators.
func (s *Service) ShowAny(ctx context.Context, id string) (*Attempt, error) {
	a, err := s.Store.Handshake(ctx, id)
	if err != nil {
		return nil, err
	}
	for i := range a.Steps {
		if st := &a.Steps[i]; !st.OK {
			st.Advice = Advice(st.Check)
		}
	}
	return a, nil
}

// Sweep deletes what is older than KeepFor.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	return s.Store.SweepHandshakes(ctx, s.Now().Add(-KeepFor))
}
