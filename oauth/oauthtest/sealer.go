package oauthtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Sealer is an oauth.Sealer with a key made from a word.
type Sealer struct{ aead cipher.AEAD }

// NewSealer returns the sealer whose key is the SHA-256 of word.
func NewSealer(word string) *Sealer {
	key := sha256.Sum256([]byte(word))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(fmt.Sprintf("aes refuses a 32 byte key: %v", err)) // cannot happen
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(fmt.Sprintf("gcm refuses aes: %v", err)) // cannot happen
	}
	return &Sealer{aead: aead}
}

// Seal implements oauth.Sealer.
func (s *Sealer) Seal(purpose, id string, plain []byte) ([]byte, error) {
	return s.aead.Seal(nil, nil, plain, []byte(purpose+"\x00"+id)), nil
}

// Open implements oauth.Sealer.
func (s *Sealer) Open(purpose, id string, sealed []byte) ([]byte, error) {
	if len(sealed) < s.aead.Overhead() {
		return nil, errors.New("sealed value is too short")
	}
	return s.aead.Open(nil, nil, sealed, []byte(purpose+"\x00"+id))
}

// reader is the randomness of tests: the real one, since tests compare properties and never values.
var reader = rand.Reader
