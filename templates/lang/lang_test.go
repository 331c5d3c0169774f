package lang_test

import (
	"context"
	"testing"

	"gatehouse/templates/lang"
)

func TestMatchPicksTheChosenThenTheAcceptedLanguage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, chosen, accept, want string }{
		{"nothing asked", "", "", "en"},
		{"accepted", "", "ar-EG,ar;q=0.9,en;q=0.5", "ar"},
		{"chosen wins", "en", "ar", "en"},
		{"unknown choice", "xx", "ar", "ar"},
		{"a language we do not have", "", "fi", "en"},
		{"garbage", "", ";;;==", "en"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := lang.Match(tt.chosen, tt.accept).Tag; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestTextsFollowTheContext(t *testing.T) {
	t.Parallel()
	english := context.Background()
	arabic := lang.With(english, lang.ByTag("ar"))
	if got := lang.T(english, "Sign in"); got != "Sign in" {
		t.Errorf("English: %q", got)
	}
	if got := lang.T(arabic, "Sign in"); got != "تسجيل الدخول" {
		t.Errorf("Arabic: %q", got)
	}
	if got := lang.T(arabic, "Never {what} translated", "what", "{n}"); got != "Never {n} translated" {
		t.Errorf("a text without translation: %q", got)
	}
}

func TestCountsHaveTheFormsOfTheLanguage(t *testing.T) {
	t.Parallel()
	arabic := lang.With(context.Background(), lang.ByTag("ar"))
	for n, want := range map[int]string{1: "تطبيق واحد متصل.", 2: "تطبيقان متصلان.", 5: "5 تطبيقات متصلة.", 11: "11 تطبيقًا متصلًا.", 100: "100 تطبيق متصل."} {
		if got := lang.N(arabic, n, "One app is connected.", "{n} apps are connected."); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := lang.N(context.Background(), 1, "One app is connected.", "{n} apps are connected."); got != "One app is connected." {
		t.Errorf("English: %q", got)
	}
}
