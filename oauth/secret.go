package oauth

// Random values: OAuth 2.1 §7.7 (a guess succeeds with at most 2^-128, better 2^-160), §4.1.2.
//
// Every secret is 32 random bytes in base64url behind a prefix that names its kind, so that a leaked one can be
// recognised. Only its SHA-256 is stored: a value with 256 bits of entropy needs no slow hash.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
)

// Prefixes of secrets. Codes use only letters, digits, hyphen, dot and underscore: some clients do not decode them.
const (
	prefixCode         = "gtc_"
	prefixRefreshToken = "gtr_"
	prefixClientSecret = "gts_"
	prefixClientID     = "gc_"
	prefixManage       = "gtm_"
	prefixInitial      = "gti_"
)

const secretBytes = 32

// newSecret makes a secret and its hash.
func newSecret(rand io.Reader, prefix string) (secret string, hash []byte, err error) {
	value, err := randomString(rand, secretBytes)
	if err != nil {
		return "", nil, err
	}
	secret = prefix + value
	return secret, HashSecret(secret), nil
}

// NewInitialToken makes an initial access token (RFC 7591 §1.2) and its hash.
func NewInitialToken(rand io.Reader) (secret string, hash []byte, err error) {
	return newSecret(rand, prefixInitial)
}

// newID makes an identifier that is not secret: 16 random bytes in base64url.
func newID(rand io.Reader, prefix string) (string, error) {
	value, err := randomString(rand, 16)
	if err != nil {
		return "", err
	}
	return prefix + value, nil
}

// newUUID makes a UUID version 7 (RFC 9562 §5.7) for rows: it grows with time, which keeps indexes compact.
func newUUID(rand io.Reader, now time.Time) (string, error) {
	var id uuid.UUID
	if _, err := io.ReadFull(rand, id[6:]); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(now.UnixMilli()))
	copy(id[:6], stamp[2:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}

func randomString(rand io.Reader, n int) (string, error) {
	buf := make([]byte, n)
	if _, err := io.ReadFull(rand, buf); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(buf), nil
}

// HashSecret is the SHA-256 under which stores keep a secret.
func HashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
