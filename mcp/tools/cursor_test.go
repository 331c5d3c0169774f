package tools

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func testCursors(t testing.TB, key byte) *cursors {
	t.Helper()
	c, err := newCursors(bytes.Repeat([]byte{key}, 32), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var testBinding = binding{Tool: "search_things", Filters: []any{"drill", searchFilters{}}, Locations: []string{"L1", "L2"}}

func TestCursorIsBound(t *testing.T) {
	t.Parallel()
	c := testCursors(t, 1)
	cursor, err := c.seal(testBinding, []byte("name key of a thing"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := base64.RawURLEncoding.DecodeString(cursor); err != nil || len(cursor) > 2400 {
		t.Fatalf("cursor %q: %v", cursor, err)
	}
	same := testBinding
	same.Locations = []string{"L2", "L1"}
	if got, err := c.open(same, cursor); err != nil || string(got) != "name key of a thing" {
		t.Fatalf("got %q, %v", got, err)
	}
	sealed, _ := base64.RawURLEncoding.DecodeString(cursor)
	if bytes.Contains(sealed, []byte("name key")) {
		t.Error("a cursor shows stored text")
	}
	other := func(change func(*binding)) binding { b := testBinding; change(&b); return b }
	for name, b := range map[string]binding{
		"other tool":      other(func(b *binding) { b.Tool = "list_contents" }),
		"other query":     other(func(b *binding) { b.Filters = []any{"saw", searchFilters{}} }),
		"other filter":    other(func(b *binding) { b.Filters = []any{"drill", searchFilters{Tag: ptr("old")}} }),
		"fewer locations": other(func(b *binding) { b.Locations = []string{"L1"} }),
	} {
		t.Run("KE-19 "+name, func(t *testing.T) {
			t.Parallel()
			refused(t, c, b, cursor)
		})
	}
	refused(t, testCursors(t, 2), testBinding, cursor)
	for i := range len(cursor) { // every character counts
		changed := cursor[:i] + string(cursor[i]^1) + cursor[i+1:]
		refused(t, c, testBinding, changed)
	}
}

func refused(t *testing.T, c *cursors, b binding, cursor string) {
	t.Helper()
	var e *Error
	if _, err := c.open(b, cursor); !errors.As(err, &e) || e.Code != "validation" || !strings.HasPrefix(e.Hint, "cursor: ") {
		t.Errorf("cursor %q opened, or failed with %v", cursor, err)
	}
}

func TestCursorKeyLength(t *testing.T) {
	t.Parallel()
	if _, err := newCursors(make([]byte, 31), rand.Reader); err == nil {
		t.Error("a key of 31 bytes is taken")
	}
}

func FuzzCursor(f *testing.F) {
	c := testCursors(f, 1)
	good, err := c.seal(testBinding, []byte("x"))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{good, "", "eyJ2IjoxfQ", good + "=", good + "A", strings.Repeat("A", 3000), "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		position, err := c.open(testBinding, cursor)
		var e *Error
		if err == nil && string(position) != "x" || err != nil && !errors.As(err, &e) {
			t.Fatalf("opened as %q, %v", position, err)
		}
	})
}
