package sealing

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Source says where the key comes from.
type Source struct {
	// Key is the key itself in base64 or hexadecimal (GATEHOUSE_SECRET_KEY).
	Key string
	// KeyFile is a file that holds it (GATEHOUSE_SECRET_KEY_FILE).
	KeyFile string
	// Command is a command of the shell that prints it (GATEHOUSE_SECRET_KEY_COMMAND), for keys that a vault keeps.
	Command string
	// DataFile is the key file in the data folder, used when none of these is given.
	DataFile string
	// Create lets a first start make DataFile: while the database was not set up with a key.
	Create bool
}

// ErrNoKey says that the database has a key already and it is not here. A new one would not open what is in the database.
var ErrNoKey = errors.New("the secret key is missing")

// Load gives the key. It makes DataFile when it may and nothing else is there; an existing file is never written to.
func (s Source) Load(ctx context.Context, rand io.Reader) ([]byte, error) {
	if given := s.given(); given > 1 {
		return nil, errors.New("secret key: more than one of GATEHOUSE_SECRET_KEY, GATEHOUSE_SECRET_KEY_FILE and GATEHOUSE_SECRET_KEY_COMMAND is set; keep one")
	}
	if s.Key != "" {
		key, err := ParseKey(s.Key)
		if err != nil {
			return nil, fmt.Errorf("GATEHOUSE_SECRET_KEY: %w", err)
		}
		return key, nil
	}
	if s.KeyFile != "" {
		key, err := readKey(s.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("GATEHOUSE_SECRET_KEY_FILE: %w", err)
		}
		return key, nil
	}
	if s.Command != "" {
		return askKey(ctx, s.Command)
	}
	key, err := readKey(s.DataFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if !s.Create {
		return nil, fmt.Errorf("%w: this database was set up with one. Restore it as %s (GATEHOUSE_DATA_DIR is that file's folder), "+
			"or set GATEHOUSE_SECRET_KEY, GATEHOUSE_SECRET_KEY_FILE or GATEHOUSE_SECRET_KEY_COMMAND to it. Do not make a new one: it would not open this database",
			ErrNoKey, s.DataFile)
	}
	if key, err = createKey(s.DataFile, rand); err != nil {
		return nil, fmt.Errorf("%w (the folder, GATEHOUSE_DATA_DIR, must be one that this user can write in; or set GATEHOUSE_SECRET_KEY)", err)
	}
	return key, nil
}

// InDataFolder says that the key is the file in the data folder: nothing else is given.
func (s Source) InDataFolder() bool { return s.given() == 0 }

func (s Source) given() int {
	n := 0
	for _, text := range []string{s.Key, s.KeyFile, s.Command} {
		if text != "" {
			n++
		}
	}
	return n
}

// commandTime is how long the command for the key may take.
const commandTime = 30 * time.Second

// askKey runs the command and reads the key from what it prints. What it prints is in no error: it may be the key.
func askKey(ctx context.Context, command string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("GATEHOUSE_SECRET_KEY_COMMAND took longer than %s", commandTime)
	}
	if err != nil {
		return nil, fmt.Errorf("GATEHOUSE_SECRET_KEY_COMMAND: %w", err)
	}
	key, err := ParseKey(string(out))
	if err != nil {
		return nil, fmt.Errorf("GATEHOUSE_SECRET_KEY_COMMAND: %w on its standard output", err)
	}
	return key, nil
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
		return nil, fmt.Errorf("%s: %w", path, err)
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
