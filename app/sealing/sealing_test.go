package sealing_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gatehouse/app/sealing"
)

func sealer(t *testing.T, b byte) *sealing.Sealer {
	t.Helper()
	s, err := sealing.New(bytes.Repeat([]byte{b}, sealing.KeySize), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealOpens(t *testing.T) {
	t.Parallel()
	s := sealer(t, 1)
	secret := []byte("a private key")
	sealed, err := s.Seal("signing key", "kid", secret)
	if err != nil || bytes.Contains(sealed, secret) {
		t.Fatalf("KY-4 sealed %x, %v", sealed, err)
	}
	if plain, err := s.Open("signing key", "kid", sealed); err != nil || !bytes.Equal(plain, secret) {
		t.Errorf("KY-4 opened %q, %v", plain, err)
	}
	if again, _ := s.Seal("signing key", "kid", secret); bytes.Equal(again, sealed) {
		t.Error("KY-4 two seals of one secret are the same")
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	version := bytes.Clone(sealed)
	version[0]++
	refused := map[string]func() ([]byte, error){
		"another key":        func() ([]byte, error) { return sealer(t, 2).Open("signing key", "kid", sealed) },
		"another row":        func() ([]byte, error) { return s.Open("signing key", "other", sealed) },
		"another purpose":    func() ([]byte, error) { return s.Open("seed", "kid", sealed) },
		"a shifted border":   func() ([]byte, error) { return s.Open("signing keyk", "id", sealed) },
		"a changed bit":      func() ([]byte, error) { return s.Open("signing key", "kid", changed) },
		"an unknown version": func() ([]byte, error) { return s.Open("signing key", "kid", version) },
		"nothing":            func() ([]byte, error) { return s.Open("signing key", "kid", nil) },
		"a short value":      func() ([]byte, error) { return s.Open("signing key", "kid", sealed[:20]) },
	}
	for name, open := range refused {
		if plain, err := open(); !errors.Is(err, sealing.ErrOpen) || plain != nil {
			t.Errorf("KY-4 %s opens: %q, %v", name, plain, err)
		}
	}
}

func TestKeySources(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{7}, sealing.KeySize)
	dir := t.TempDir()
	file := filepath.Join(dir, "given")
	if err := os.WriteFile(file, []byte(hex.EncodeToString(key)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	good := map[string]sealing.Source{
		"hex":                     {Key: hex.EncodeToString(key)},
		"base64":                  {Key: base64.StdEncoding.EncodeToString(key) + "\n", DataFile: missing},
		"base64url bare":          {Key: base64.RawURLEncoding.EncodeToString(key)},
		"file":                    {KeyFile: file},
		"command":                 {Command: "cat '" + file + "'", DataFile: missing},
		"file in the data folder": {DataFile: file},
	}
	for name, source := range good {
		if got, err := source.Load(t.Context(), rand.Reader); err != nil || !bytes.Equal(got, key) {
			t.Errorf("KY-4 %s: %x, %v", name, got, err)
		}
	}
	bad := map[string]sealing.Source{
		"a short key":                  {Key: "c2hvcnQ="},
		"a missing file":               {KeyFile: missing, DataFile: file},
		"a broken file":                {DataFile: broken, Create: true},
		"both":                         {Key: hex.EncodeToString(key), KeyFile: file},
		"a broken KeyFile":             {KeyFile: broken},
		"file and command":             {KeyFile: file, Command: "cat '" + file + "'"},
		"a command that fails":         {Command: "echo 0707; exit 3", DataFile: file},
		"a command that prints no key": {Command: "echo c2hvcnQ=", DataFile: file},
		"a command that is none":       {Command: "no-such-command-here", DataFile: file},
	}
	for name, source := range bad {
		if got, err := source.Load(t.Context(), rand.Reader); err == nil || got != nil {
			t.Errorf("KY-4 %s gives a key", name)
		} else if strings.Contains(err.Error(), "c2hvcnQ") || strings.Contains(err.Error(), "0707") {
			t.Errorf("KY-6 the error shows the key: %v", err)
		}
	}
	_, err := sealing.Source{DataFile: missing}.Load(t.Context(), rand.Reader)
	if !errors.Is(err, sealing.ErrNoKey) {
		t.Fatalf("KY-4 without a key: %v", err)
	}
	for _, want := range []string{missing, "GATEHOUSE_SECRET_KEY", "Restore", "Do not make a new one"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the database has a key, and this does not lead back to it: %v; want %q", err, want)
		}
	}
	if _, err := (sealing.Source{KeyFile: missing}).Load(t.Context(), rand.Reader); !strings.Contains(err.Error(), "GATEHOUSE_SECRET_KEY_FILE") {
		t.Errorf("the setting is not named: %v", err)
	}
	if _, err := (sealing.Source{DataFile: filepath.Join(file, "secret.key"), Create: true}).Load(t.Context(), rand.Reader); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a folder that is none: %v", err)
	}
	if text, _ := os.ReadFile(broken); string(text) != "short" {
		t.Error("KY-4 an existing key file was overwritten")
	}
}

func TestFirstStartMakesOneKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "secret.key")
	keys := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := sealing.Source{DataFile: path, Create: true}.Load(t.Context(), rand.Reader)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if len(key) != sealing.KeySize || !bytes.Equal(key, keys[0]) {
			t.Errorf("KY-4 processes starting at once have different keys")
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("KY-4 the key file is %v, %v", info, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("drafts are left: %v", entries)
	}
}

type memory struct{ dataKey, check []byte }

func (m *memory) DataKey(_ context.Context, fresh []byte) ([]byte, error) {
	if m.dataKey == nil {
		m.dataKey = fresh
	}
	return m.dataKey, nil
}

func (m *memory) ReplaceDataKey(_ context.Context, old, next []byte) (bool, error) {
	if !bytes.Equal(m.dataKey, old) {
		return false, nil
	}
	m.dataKey = next
	return true, nil
}

func (m *memory) SealingCheck(context.Context) ([]byte, error) { return m.check, nil }

func TestDataKeyOutlivesSecretKeys(t *testing.T) {
	t.Parallel()
	ctx, store := context.Background(), &memory{}
	first, second := bytes.Repeat([]byte{1}, sealing.KeySize), bytes.Repeat([]byte{2}, sealing.KeySize)
	key, err := sealing.OpenDataKey(ctx, first, rand.Reader, store)
	if err != nil || len(key) != sealing.KeySize {
		t.Fatalf("KY-4 first start: %v", err)
	}
	if _, err := sealing.OpenDataKey(ctx, second, rand.Reader, store); !errors.Is(err, sealing.ErrWrongKey) {
		t.Errorf("KY-4 a wrong key: %v", err)
	}
	if err := sealing.Rewrap(ctx, first, second, rand.Reader, store); err != nil {
		t.Fatalf("KY-4 rewrap: %v", err)
	}
	if again, err := sealing.OpenDataKey(ctx, second, rand.Reader, store); err != nil || !bytes.Equal(again, key) {
		t.Errorf("KY-4 the new key opens another data key: %v", err)
	}
	if _, err := sealing.OpenDataKey(ctx, first, rand.Reader, store); !errors.Is(err, sealing.ErrWrongKey) {
		t.Errorf("KY-4 the old key after a rewrap: %v", err)
	}
	if _, err := sealing.OpenDataKey(ctx, second[:16], rand.Reader, store); err == nil || errors.Is(err, sealing.ErrWrongKey) {
		t.Errorf("KY-4 a short key: %v", err)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(strings.Repeat("ab", 32))
	f.Add(base64.StdEncoding.EncodeToString(make([]byte, 32)))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := sealing.ParseKey(text)
		if (err == nil) != (len(key) == sealing.KeySize) {
			t.Errorf("%q gives %d bytes, %v", text, len(key), err)
		}
	})
}

func FuzzOpen(f *testing.F) {
	s, err := sealing.New(make([]byte, sealing.KeySize), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, sealed []byte) {
		if plain, err := s.Open("p", "i", sealed); err == nil {
			t.Errorf("a forged value opens: %q", plain)
		}
	})
}
