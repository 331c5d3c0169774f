package tools

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
)

// maxCursor is the longest cursor taken or given, in characters.
const maxCursor = 2400

// cursors seals the position in a list into the text a client sends back. A cursor is bound to its tool, filters and
// locations; it grants nothing, since every page is checked anew. It is encrypted, not only signed, so that stored text
// which orders a list (a name) does not travel outside untrusted.
type cursors struct {
	aead cipher.AEAD
	rand io.Reader
}

func newCursors(key []byte, rand io.Reader) (*cursors, error) {
	if len(key) != 32 {
		return nil, errors.New("cursor key must have 32 bytes")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("cursor key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("cursor key: %w", err)
	}
	return &cursors{aead: aead, rand: rand}, nil
}

// binding is what a cursor holds for and nothing else.
type binding struct {
	Tool      string
	Filters   any
	Locations []string
}

func (b binding) digest() ([]byte, error) {
	b.Locations = slices.Sorted(slices.Values(b.Locations))
	text, err := json.Marshal(b, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("bind cursor: %w", err)
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

// seal makes the cursor for a position.
func (c *cursors) seal(b binding, position []byte) (string, error) {
	bound, err := b.digest()
	if err != nil {
		return "", err
	}
	nonce := make([]byte, c.aead.NonceSize(), c.aead.NonceSize()+len(position)+c.aead.Overhead())
	if _, err := io.ReadFull(c.rand, nonce); err != nil {
		return "", fmt.Errorf("seal cursor: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(c.aead.Seal(nonce, nonce, position, bound))
	if len(text) > maxCursor {
		return "", fmt.Errorf("seal cursor: %d characters", len(text))
	}
	return text, nil
}

// open returns the position in a cursor. Anything this program did not seal for the same binding is a validation error.
func (c *cursors) open(b binding, text string) ([]byte, error) {
	bound, err := b.digest()
	if err != nil {
		return nil, err
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(text) > maxCursor || len(sealed) < c.aead.NonceSize() {
		return nil, errCursor()
	}
	n := c.aead.NonceSize()
	position, err := c.aead.Open(nil, sealed[:n], sealed[n:], bound)
	if err != nil {
		return nil, errCursor()
	}
	return position, nil
}

func errCursor() *Error {
	return invalid("cursor", "must be the next_cursor of the same call with the same arguments")
}
