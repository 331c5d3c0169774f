package account

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/text/unicode/norm"

	"gatehouse/app/limit"
)

// Lengths of passwords (NIST SP 800-63B-4 §3.1.1.2): 15 where the password is the only factor, 8 beside a second one.
const (
	minPasswordRunes = 15
	minBesideCodes   = 8
	maxPasswordBytes = 256
)

// PasswordParams say how hard passwords are hashed (RFC 9106). Zero values mean the defaults: 19 MiB, two passes, one lane.
type PasswordParams struct {
	MemoryKiB   uint32
	Iterations  uint32
	Parallelism uint8
	// AtOnce bounds the hashes computed side by side, Waiting those that queue for one; more are turned away.
	AtOnce  int
	Waiting int
}

// Hasher makes and checks password hashes.
type Hasher interface {
	// Hash makes a hash of a password with a fresh salt.
	Hash(ctx context.Context, password string) (string, error)
	// Verify compares. stale says that the hash was made with other parameters. An empty hash never matches and costs the
	// same work. Too many at once give *limit.Exceeded.
	Verify(ctx context.Context, password, hash string) (match, stale bool, err error)
}

// argon2 hashes with Argon2id. It is the only place where memory is spent on purpose, so it is bounded here.
type argon2 struct {
	params *argon2id.Params
	// nobody is a hash that no password has: checking it costs what checking a real one does.
	nobody string
	queue  chan struct{}
	slots  chan struct{}
}

func newArgon2(p PasswordParams) (*argon2, error) {
	p.MemoryKiB, p.Iterations, p.Parallelism = orDefault(p.MemoryKiB, 19456), orDefault(p.Iterations, 2), orDefault(p.Parallelism, 1)
	p.AtOnce, p.Waiting = orDefault(p.AtOnce, runtime.GOMAXPROCS(0)), orDefault(p.Waiting, 64)
	if p.MemoryKiB < 8*uint32(p.Parallelism) || p.AtOnce < 1 || p.Waiting < 1 {
		return nil, errors.New("password parameters: memory must be at least 8 KiB per lane, and the bounds positive")
	}
	params := &argon2id.Params{Memory: p.MemoryKiB, Iterations: p.Iterations, Parallelism: p.Parallelism, SaltLength: 16, KeyLength: 32}
	return &argon2{
		params: params,
		nobody: fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", p.MemoryKiB, p.Iterations, p.Parallelism, strings.Repeat("A", 22), strings.Repeat("A", 43)),
		queue:  make(chan struct{}, p.AtOnce+p.Waiting),
		slots:  make(chan struct{}, p.AtOnce),
	}, nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// acquire waits for a slot; a full queue turns away at once.
func (a *argon2) acquire(ctx context.Context) (release func(), err error) {
	select {
	case a.queue <- struct{}{}:
	default:
		return nil, &limit.Exceeded{RetryAfter: 1e9}
	}
	select {
	case a.slots <- struct{}{}:
		return func() { <-a.slots; <-a.queue }, nil
	case <-ctx.Done():
		<-a.queue
		return nil, ctx.Err()
	}
}

// Hash makes a hash.
func (a *argon2) Hash(ctx context.Context, password string) (string, error) {
	release, err := a.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	return argon2id.CreateHash(password, a.params)
}

// Verify compares.
func (a *argon2) Verify(ctx context.Context, password, hash string) (match, stale bool, err error) {
	release, err := a.acquire(ctx)
	if err != nil {
		return false, false, err
	}
	defer release()
	against := hash
	if against == "" {
		against = a.nobody
	}
	match, params, err := argon2id.CheckHash(password, against)
	if err != nil {
		return false, false, fmt.Errorf("check password hash: %w", err)
	}
	return match && hash != "", *params != *a.params, nil
}

// hashNew checks a new password against the rules and hashes it. known are words of the person that are no secret.
func (s *Service) hashNew(ctx context.Context, password string, known ...string) (string, error) {
	hash, _, err := s.hashBeside(ctx, false, password, known...)
	return hash, err
}

// hashBeside is hashNew for a person who may have a second factor; short says that the password needs it.
func (s *Service) hashBeside(ctx context.Context, second bool, password string, known ...string) (hash string, short bool, err error) {
	least := minPasswordRunes
	if second {
		least = minBesideCodes
	}
	normal, err := checkPassword(password, least, known...)
	if err != nil {
		return "", false, err
	}
	hash, err = s.hasher.Hash(ctx, normal)
	return hash, utf8.RuneCountInString(normal) < minPasswordRunes, wrap("hash password", err)
}

// verify checks a password at sign-in. c is nil for an unknown person, which costs the same work.
func (s *Service) verify(ctx context.Context, c *Credentials, password string) (bool, error) {
	stored := ""
	if c != nil && !c.Disabled() {
		stored = c.PasswordHash
	}
	normal, ok := normalPassword(password)
	if !ok {
		normal, stored = "", ""
	}
	match, stale, err := s.hasher.Verify(ctx, normal, stored)
	if err != nil || !match || !stale {
		return match, err
	}
	fresh, err := s.hasher.Hash(ctx, normal)
	if err != nil {
		var busy *limit.Exceeded
		return true, ifNot(errors.As(err, &busy), err)
	}
	if err := s.store.RehashPassword(ctx, c.ID, c.PasswordHash, fresh); err != nil {
		return false, fmt.Errorf("renew password hash: %w", err)
	}
	c.PasswordHash = fresh
	return true, nil
}

// ifNot drops an error that does not matter.
func ifNot(drop bool, err error) error {
	if drop {
		return nil
	}
	return err
}

// normalPassword is the form that is hashed: NFC, whole. Too long or broken text is no password of anybody.
func normalPassword(password string) (string, bool) {
	if !utf8.ValidString(password) || len(password) > 4*maxPasswordBytes {
		return "", false
	}
	normal := norm.NFC.String(password)
	return normal, len(normal) <= maxPasswordBytes
}

// checkPassword holds the rules for a new password: length and a list of the most guessed; nothing about its composition.
func checkPassword(password string, least int, known ...string) (string, error) {
	normal, ok := normalPassword(password)
	if !ok {
		return "", Refuse(CodeValidation, "password", "must be at most {n} bytes of text", "n", maxPasswordBytes)
	}
	if utf8.RuneCountInString(normal) < least {
		return "", Refuse(CodeValidation, "password", "must be at least {n} characters; a few words in a row are easy to remember", "n", least)
	}
	if guessable(strings.ToLower(normal), known) {
		return "", Refuse(CodeValidation, "password", "is among the first that are guessed; choose another")
	}
	return normal, nil
}
