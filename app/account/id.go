package account

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
)

// NewID makes a UUID of version 7 (RFC 9562 §5.7) from the given clock and source.
func NewID(now time.Time, rand io.Reader) (string, error) {
	var id uuid.UUID
	if _, err := io.ReadFull(rand, id[6:]); err != nil {
		return "", fmt.Errorf("read random bytes: %w", err)
	}
	ms := now.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}

// Prefixes of secrets: a leaked one can be recognised.
const (
	prefixSession = "gss_"
	prefixSetup   = "gsu_"
	prefixReset   = "gsr_"
	prefixToken   = "gth_"
	// A sign-in that waits for its second factor, and a question put to an authenticator.
	prefixPending  = "gps_"
	prefixCeremony = "gpc_"
	prefixSignUp   = "gsn_"
	prefixAddress  = "gse_"
	prefixInvite   = "gsi_"
)

// newSecret makes 32 random bytes in base64url behind the prefix, and the hash under which it is stored. Values of 256
// random bits need no slow hash.
func newSecret(rand io.Reader, prefix string) (secret string, hash []byte, err error) {
	value := make([]byte, 32)
	if _, err := io.ReadFull(rand, value); err != nil {
		return "", nil, fmt.Errorf("read random bytes: %w", err)
	}
	secret = prefix + base64.RawURLEncoding.EncodeToString(value)
	return secret, hashSecret(secret), nil
}

// NewInvitationSecret makes the secret of an invitation's link and its hash.
func NewInvitationSecret(rand io.Reader) (secret string, hash []byte, err error) {
	return newSecret(rand, prefixInvite)
}

// ParseInvitationSecret gives the hash of an invitation's secret, and false for what cannot be one.
func ParseInvitationSecret(secret string) ([]byte, bool) {
	return hashSecret(secret), wellFormed(secret, prefixInvite)
}

func hashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
