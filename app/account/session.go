package account

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// How long a session lasts: without use, at most, and how often its use is written down.
const (
	sessionIdle     = 12 * time.Hour
	sessionAbsolute = 7 * 24 * time.Hour
	sessionTouch    = time.Minute
)

// Device is where a browser session comes from.
type Device struct {
	IP        string
	UserAgent string
}

// Session is one signed-in browser. Its cookie holds a secret of which only the hash is kept.
type Session struct {
	ID     string
	UserID string
	// Person is who is signed in.
	Person Person
	// AuthTime is when the person last proved who they are.
	AuthTime time.Time
	// AMR says how, in the words of RFC 8176; never empty.
	AMR        []string
	CreatedAt  time.Time
	LastSeenAt time.Time
	// ExpiresAt is the end however much the session is used.
	ExpiresAt time.Time
	Device
}

// Fresh reports whether the person proved who they are within the given time: security settings ask for that.
func (s *Session) Fresh(now time.Time, within time.Duration) bool {
	return now.Sub(s.AuthTime) <= within
}

// NewSession is the row of a session to be made.
type NewSession struct {
	Session
	SecretHash []byte
}

// Renewal gives a session another secret, and the time and manner of another proof.
type Renewal struct {
	SessionID        string
	UserID           string
	OldHash, NewHash []byte
	AuthTime         time.Time
	AMR              []string
}

// SessionStore keeps sessions. Ending one deletes it.
type SessionStore interface {
	// InsertSession writes a session while its person is enabled, still has the given password hash and no second factor;
	// else ErrNotFound.
	InsertSession(ctx context.Context, n NewSession, passwordHash string) error
	// SessionByHash finds a session of an enabled person that was used after idleSince and ends after now; else
	// ErrNotFound.
	SessionByHash(ctx context.Context, hash []byte, now, idleSince time.Time) (*Session, error)
	// TouchSession writes down a use, unless another process did after before.
	TouchSession(ctx context.Context, id string, at, before time.Time) error
	// SessionsOf lists a person's sessions under the same conditions, the latest used first.
	SessionsOf(ctx context.Context, userID string, now, idleSince time.Time) ([]Session, error)
	// RenewSession renews a session, if it still has the old secret and its person the given password hash, and uses up the
	// code; else ErrNotFound, or ErrWrongCode. Without a code it is ErrNotFound for a person with a second factor.
	RenewSession(ctx context.Context, r Renewal, passwordHash string, code *UsedCode) error
	// EndSessionByHash and EndSession end one; an unknown one is no error for the first and ErrNotFound for the second.
	EndSessionByHash(ctx context.Context, hash []byte) error
	EndSession(ctx context.Context, userID, id string) error
	// EndOtherSessions ends a person's sessions but one, and their personal tokens and connections, in one step.
	EndOtherSessions(ctx context.Context, userID, keepID string, at time.Time) error
	// SweepAccounts removes sessions that are over and one-time links that expired before now.
	SweepAccounts(ctx context.Context, now, idleSince time.Time) error
}

// SessionBySecret finds the live session of a cookie and writes down its use at most once a minute. A session that is
// unknown, idle, over, or of a disabled person gives ErrNotFound.
func (s *Service) SessionBySecret(ctx context.Context, secret string) (*Session, error) {
	if !wellFormed(secret, prefixSession) {
		return nil, ErrNotFound
	}
	now := s.at()
	session, err := s.store.SessionByHash(ctx, hashSecret(secret), now, now.Add(-sessionIdle))
	if err != nil {
		return nil, err
	}
	if before := now.Add(-sessionTouch); !session.LastSeenAt.After(before) {
		if err := s.store.TouchSession(ctx, session.ID, now, before); err != nil {
			return nil, fmt.Errorf("touch session: %w", err)
		}
		session.LastSeenAt = now
	}
	return session, nil
}

// SignOut ends the session of a cookie.
func (s *Service) SignOut(ctx context.Context, secret string) error {
	if !wellFormed(secret, prefixSession) {
		return nil
	}
	return wrap("sign out", s.store.EndSessionByHash(ctx, hashSecret(secret)))
}

// Sessions lists a person's live sessions.
func (s *Service) Sessions(ctx context.Context, userID string) ([]Session, error) {
	now := s.at()
	return s.store.SessionsOf(ctx, userID, now, now.Add(-sessionIdle))
}

// EndSession signs out one browser of a person. It leaves tokens and connections alone.
func (s *Service) EndSession(ctx context.Context, userID, id string) error {
	return wrap("end session", s.store.EndSession(ctx, userID, id))
}

// EndOtherSessions signs a person out everywhere but in the given session (everywhere when keepID is empty). Whatever else
// acts for the person ends as well: personal tokens and connections.
func (s *Service) EndOtherSessions(ctx context.Context, userID, keepID string) error {
	return wrap("end other sessions", s.store.EndOtherSessions(ctx, userID, keepID, s.at()))
}

// Sweep removes sessions and links that are over, and throttle counts that no longer matter.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.at()
	if err := s.store.SweepAccounts(ctx, now, now.Add(-sessionIdle)); err != nil {
		return fmt.Errorf("sweep accounts: %w", err)
	}
	if err := s.store.SweepFactors(ctx, now); err != nil {
		return fmt.Errorf("sweep factors: %w", err)
	}
	return wrap("sweep throttle", s.signIns.Sweep(ctx))
}

// newSession makes the row of a session that starts now with a proof of the given manner, and the secret of its cookie.
func (s *Service) newSession(p Person, from Device, amr ...string) (*NewSession, string, error) {
	secret, hash, err := newSecret(s.rand, prefixSession)
	if err != nil {
		return nil, "", err
	}
	id, err := s.newID()
	if err != nil {
		return nil, "", err
	}
	now := s.at()
	from.UserAgent = shorten(from.UserAgent, 300)
	from.IP = shorten(from.IP, 64)
	return &NewSession{SecretHash: hash, Session: Session{
		ID: id, UserID: p.ID, Person: p, AuthTime: now, AMR: amr, CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(sessionAbsolute), Device: from,
	}}, secret, nil
}

// shorten cuts hostile text to n bytes of valid UTF-8 without NUL, which Postgres refuses.
func shorten(text string, n int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// wellFormed reports whether a secret has the form of its kind: most garbage needs no look into the database.
func wellFormed(secret, prefix string) bool {
	value, ok := strings.CutPrefix(secret, prefix)
	return ok && len(value) == 43 && base64URL(value)
}

func base64URL(s string) bool {
	for _, c := range []byte(s) {
		if !alphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
