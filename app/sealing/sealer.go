package sealing

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// KeySize is the size of a key in bytes.
const KeySize = 32

// version is the first byte of a sealed value: it says how the rest was made and under which generation of key.
const version = 1

const nonceSize = 12

// ErrOpen says that a sealed value does not open: another key, another row, or damage. Which one cannot be told.
var ErrOpen = errors.New("the sealed value does not open: it was sealed with another key or for another row, or it is damaged")

// Sealer encrypts small secrets. It is safe for concurrent use if its random source is.
type Sealer struct {
	aead cipher.AEAD
	rand io.Reader
}

// New makes a sealer from a key of KeySize bytes and a source of random nonces.
func New(key []byte, rand io.Reader) (*Sealer, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("sealing key: %d bytes, want %d", len(key), KeySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	return &Sealer{aead: aead, rand: rand}, nil
}

// Seal encrypts plain for one purpose and row.
func (s *Sealer) Seal(purpose, id string, plain []byte) ([]byte, error) {
	out := make([]byte, 1+nonceSize, 1+nonceSize+len(plain)+s.aead.Overhead())
	out[0] = version
	if _, err := io.ReadFull(s.rand, out[1:]); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return s.aead.Seal(out, out[1:], plain, associated(purpose, id)), nil
}

// Open decrypts what Seal made for the same purpose and row.
func (s *Sealer) Open(purpose, id string, sealed []byte) ([]byte, error) {
	if len(sealed) < 1+nonceSize+s.aead.Overhead() || sealed[0] != version {
		return nil, ErrOpen
	}
	plain, err := s.aead.Open(nil, sealed[1:1+nonceSize], sealed[1+nonceSize:], associated(purpose, id))
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}

// associated binds version, purpose and id. The purpose's length goes first, so that no two pairs give the same bytes.
func associated(purpose, id string) []byte {
	b := binary.AppendUvarint([]byte{version}, uint64(len(purpose)))
	return append(append(b, purpose...), id...)
}
