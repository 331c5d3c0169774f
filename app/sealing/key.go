package sealing

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Source says where the key comes from.
type Source struct {
	// Key is the key itself in base64 or hexadecimal (GATEHOUSE_SECRET_KEY).
	Key string
	// KeyFile is a file that holds it (GATEHOUSE_SECRET_KEY_FILE).
	KeyFile string
	// DataFile is the key file in the data folder, used when neither is given.
	DataFile string
	// Create lets a first start make DataFile: where the database is in the same folder and nobody else can have made
	// another key for it.
	Create bool
}

// ErrNoKey says that no key was given and none may be made.
var ErrNoKey = errors.New("no secret key: set GATEHOUSE_SECRET_KEY to 32 random bytes in base64 or hex " +
	"(for example the output of: openssl rand -base64 32), or GATEHOUSE_SECRET_KEY_FILE to a file that holds them. " +
	"All processes on one database need the same key")

// Load gives the key. It makes DataFile when it may and nothing else is there; an existing file is never written to.
func (s Source) Load(rand io.Reader) ([]byte, error) {
	if s.Key != "" && s.KeyFile != "" {
		return nil, errors.New("secret key: GATEHOUSE_SECRET_KEY and GATEHOUSE_SECRET_KEY_FILE are both set; keep one")
	}
	if s.Key != "" {
		key, err := ParseKey(s.Key)
		if err != nil {
			return nil, fmt.Errorf("GATEHOUSE_SECRET_KEY: %w", err)
		}
		return key, nil
	}
	if s.KeyFile != "" {
		return readKey(s.KeyFile)
	}
	key, err := readKey(s.DataFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if !s.Create {
		return nil, ErrNoKey
	}
	return createKey(s.DataFile, rand)
}

// ParseKey reads a key in hexadecimal or any of base64's forms.
func ParseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if key, err := hex.DecodeString(text); err == nil && len(key) == KeySize {
		return key, nil
	}
	bare := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	if key, err := base64.RawStdEncoding.DecodeString(bare); err == nil && len(key) == KeySize {
		return key, nil
	}
	return nil, fmt.Errorf("the secret key must be %d bytes in base64 or hex", KeySize)
}

func readKey(path string) ([]byte, error) {
	if path == "" {
		return nil, fs.ErrNotExist
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read secret key: %w", err)
	}
	key, err := ParseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("secret key file %s: %w", path, err)
	}
	return key, nil
}

// createKey makes the key file whole or not at all: the bytes are on the disk before the name is, and a link takes no
// name that is taken. When another process was first its key is read.
func createKey(path string, rand io.Reader) ([]byte, error) {
	key := make([]byte, KeySize)
	if _, err := io.ReadFull(rand, key); err != nil {
		return nil, fmt.Errorf("create secret key: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("create secret key: %w", err)
	}
	draft, err := writeDraft(path, key)
	if err != nil {
		return nil, fmt.Errorf("create secret key: %w", err)
	}
	defer func() { _ = os.Remove(draft) }()
	if err := os.Link(draft, path); errors.Is(err, fs.ErrExist) {
		return readKey(path)
	} else if err != nil {
		return writeExclusive(path, key) // a file system without links
	}
	return key, nil
}

// writeDraft writes the key to a new file beside path, readable by the owner alone.
func writeDraft(path string, key []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	return f.Name(), fill(f, key)
}

func writeExclusive(path string, key []byte) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return readKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("create secret key: %w", err)
	}
	if err := fill(f, key); err != nil {
		return nil, fmt.Errorf("create secret key: %w", err)
	}
	return key, nil
}

func fill(f *os.File, key []byte) error {
	_, err := f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}
