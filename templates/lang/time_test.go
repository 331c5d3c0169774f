package lang_test

import (
	"testing"
	"time"

	"gatehouse/templates/lang"
)

func TestMomentsInWords(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		10 * time.Second: "just now", time.Minute: "1 minute ago", 3 * time.Hour: "3 hours ago", 49 * time.Hour: "2 days ago",
		20 * 24 * time.Hour: "10 February 2026", -24 * time.Hour: "3 March 2026",
	} {
		if got := lang.Since(t.Context(), now.Add(-d), now); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	if got := lang.DateTime(t.Context(), now.In(time.FixedZone("", 7200))); got != "2 March 2026, 09:30 UTC" {
		t.Errorf("in full: %q", got)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b, c and d": {"a", "b", "c", "d"}} {
		if got := lang.List(t.Context(), words); got != want {
			t.Errorf("%v: %q, want %q", words, got, want)
		}
	}
}
