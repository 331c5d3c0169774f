package oauth

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestNewSecret(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{prefixCode, prefixRefreshToken, prefixClientSecret} {
		t.Run("X-13 KY-5 "+prefix, func(t *testing.T) {
			t.Parallel()
			one, hash, err := newSecret(rand.Reader, prefix)
			if err != nil {
				t.Fatal(err)
			}
			two, _, err := newSecret(rand.Reader, prefix)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(one, prefix))
			if err != nil || len(raw) != 32 {
				t.Errorf("%q holds %d bytes, %v", one, len(raw), err)
			}
			if one == two || !strings.HasPrefix(one, prefix) {
				t.Errorf("secrets %q, %q", one, two)
			}
			if !bytes.Equal(hash, HashSecret(one)) || len(hash) != 32 || bytes.Contains(hash, raw[:8]) {
				t.Errorf("hash %x", hash)
			}
		})
	}
	t.Run("X-13 a source that runs dry makes no short secret", func(t *testing.T) {
		t.Parallel()
		if s, _, err := newSecret(strings.NewReader("short"), prefixCode); err == nil || s != "" {
			t.Errorf("secret %q, error %v", s, err)
		}
		if s, err := newUUID(strings.NewReader("short"), time.Time{}); err == nil || s != "" {
			t.Errorf("id %q, error %v", s, err)
		}
	})
}

func TestNewUUID(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 987e6, time.UTC)
	text, err := newUUID(rand.Reader, now)
	if err != nil {
		t.Fatal(err)
	}
	id, err := uuid.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if id.Version() != 7 || id.Variant() != uuid.RFC4122 {
		t.Errorf("RFC9562-5.7 version %d, variant %v", id.Version(), id.Variant())
	}
	seconds, nanoseconds := id.Time().UnixTime()
	if got := time.Unix(seconds, nanoseconds).UTC().Truncate(time.Millisecond); !got.Equal(now) {
		t.Errorf("RFC9562-5.7 time %v, want %v", got, now)
	}
	later, err := newUUID(rand.Reader, now.Add(time.Millisecond))
	if err != nil || later <= text {
		t.Errorf("ids do not grow: %s, %s, %v", text, later, err)
	}
}

func TestSealedSuccessor(t *testing.T) {
	t.Parallel()
	sealed, err := sealSuccessor(rand.Reader, "gtr_one", "gtr_two")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := openSuccessor("gtr_one", sealed); err != nil || got != "gtr_two" {
		t.Errorf("RT-9 the holder reads %q, %v", got, err)
	}
	if _, err := openSuccessor("gtr_other", sealed); err == nil {
		t.Error("RT-9 somebody else reads it")
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := openSuccessor("gtr_one", changed); err == nil {
			t.Fatalf("RT-9 byte %d may be changed", i)
		}
		if _, err := openSuccessor("gtr_one", sealed[:i]); err == nil {
			t.Fatalf("RT-9 may be cut to %d bytes", i)
		}
	}
}

func TestStoreFailure(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk on fire")
	e := storeFailure("read row", cause)
	if e.Code != "temporarily_unavailable" || e.Status != 503 || e.RetryAfter <= 0 || !errors.Is(e, cause) {
		t.Errorf("X-10 %+v", e)
	}
	if strings.Contains(e.Description, "disk") {
		t.Errorf("X-7 the cause reaches the client: %s", e.Description)
	}
	if known := InvalidGrant("x"); storeFailure("read row", known) != known {
		t.Error("a protocol error is wrapped")
	}
}
