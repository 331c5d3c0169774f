package web_test

import (
	"net/http"
	"strings"
	"testing"
)

const languageCookie = "__Host-gatehouse-language"

func TestPagesSpeakTheReadersLanguage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, tc := range []struct{ name, accept, cookie, tag, dir, text string }{
		{"nothing said", "", "", "en", "ltr", "Sign in"},
		{"what the browser accepts", "ar-EG,ar;q=0.9,en;q=0.4", "", "ar", "rtl", "تسجيل الدخول"},
		{"the choice wins", "ar", "en", "en", "ltr", "Sign in"},
		{"a choice that is none", "ar", "xx<script>", "ar", "rtl", "تسجيل الدخول"},
		{"a language that is not there", "fi", "", "en", "ltr", "Sign in"},
	} {
		for _, target := range []string{"/signin", "/nothing"} {
			b := s.browser()
			if tc.cookie != "" {
				b.cookies[languageCookie] = tc.cookie
			}
			a := b.send(t, http.MethodGet, target, "", "Accept", "text/html", "Accept-Language", tc.accept)
			if a.find("html", "lang", tc.tag) == nil || a.find("html", "dir", tc.dir) == nil || a.header.Get("Content-Language") != tc.tag {
				t.Errorf("%s: %s is not in %s: %v", tc.name, target, tc.tag, a.header)
			}
			if vary := a.header.Get("Vary"); vary != "Accept-Language, Cookie" {
				t.Errorf("%s: %s varies by %q", tc.name, target, vary)
			}
			if target == "/signin" && !strings.Contains(a.body, "<h1>"+tc.text) {
				t.Errorf("%s: the heading is not %q", tc.name, tc.text)
			}
		}
	}
	protocol := s.call(t, http.MethodGet, "/authorize?client_id=x", "", "Accept", "application/json", "Accept-Language", "ar")
	if protocol.header.Get("Content-Language") != "" || !strings.Contains(protocol.body, `"error"`) {
		t.Errorf("an error for programs: %v %s", protocol.header, protocol.body)
	}
}

func TestTheLanguageIsChosenAtTheFootOfThePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	for _, target := range []string{"/settings/connections", "/settings/connect?watch=1"} {
		form := b.get(t, target).form(t, "/language")
		form.Set("language", "ar")
		a := b.post(t, "/language", form)
		if a.status != http.StatusSeeOther || a.header.Get("Location") != target || b.cookies[languageCookie] != "ar" {
			t.Fatalf("%s: %d to %s, cookies %v", target, a.status, a.header.Get("Location"), b.cookies)
		}
		if page := b.get(t, target); page.find("html", "lang", "ar") == nil || page.find("button", "value", "en") == nil {
			t.Errorf("%s is not in Arabic with English on offer", target)
		}
	}
	form := b.get(t, "/settings/account").form(t, "/language")
	form.Set("language", "en")
	for back, want := range map[string]string{"https://evil.example": "/", "//evil.example": "/", "/settings": "/settings"} {
		form.Set("return", back)
		if a := b.post(t, "/language", form); a.header.Get("Location") != want {
			t.Errorf("BH-7 back to %q leads to %q", back, a.header.Get("Location"))
		}
	}
	form.Set("language", "xx")
	if b.post(t, "/language", form); b.cookies[languageCookie] != "en" {
		t.Errorf("a language that is not there was taken: %v", b.cookies)
	}
	if a := b.post(t, "/language", form, "Sec-Fetch-Site", "cross-site"); a.status != http.StatusForbidden {
		t.Errorf("BH-5 another site's form: %d", a.status)
	}
}

// The switch leads back to where its reader was, with what the page was about.
func TestTheLanguageSwitchKeepsThePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.accounts.setup = "setup-link"
	b := s.browser()
	request := b.get(t, "/authorize?"+authorizeQuery(s.register(t)).Encode()).header.Get("Location")
	form := b.get(t, request).form(t, "/signin")
	form.Set("password", "wrong")
	form.Set("email", email)
	if got := b.post(t, "/signin", form).form(t, "/language").Get("return"); got != request {
		t.Errorf("after a wrong password: %q, want %q", got, request)
	}
	form = b.get(t, "/setup?token=setup-link").form(t, "/setup")
	form.Set("password", "short")
	if got := b.post(t, "/setup", form).form(t, "/language").Get("return"); got != "/setup?token=setup-link" {
		t.Errorf("after a short password: %q", got)
	}
}

// A page that is shown once has no switch, which would lose what it shows.
func TestThePageOfANewTokenHasNoSwitch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.signedIn(t)
	form := b.get(t, "/settings/connections").form(t, "/settings/connections/tokens")
	form.Set("name", "Script")
	if a := b.post(t, "/settings/connections/tokens", form); a.status != http.StatusSeeOther {
		t.Fatalf("make a token: %d %s", a.status, a.body)
	}
	page := b.get(t, "/settings/connections/tokens/created")
	if page.status != http.StatusOK || page.find("form", "action", "/language") != nil {
		t.Errorf("the page of a new token: %d", page.status)
	}
}
