package account_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"gatehouse/app/account"
	"gatehouse/app/limit"
)

func TestPasswordRules(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		for name, c := range map[string]struct {
			password string
			ok       bool
		}{
			"PW-2 fifteen characters":              {"vase hill tram 9", true},
			"PW-2 fourteen":                        {"vase hill tram", false},
			"PW-2 fifteen code points":             {"éèêëàâäôöùûüçñß", true},
			"PW-2 256 bytes":                       {strings.Repeat("vase-hill-tram-9", 15) + "0123456789ABCDEf", true},
			"PW-2 257 bytes":                       {strings.Repeat("vase-hill-tram-9", 16) + "x", false},
			"PW-2 no composition rules":            {"grouse lantern pickle", true},
			"PW-2 spaces and signs count":          {"  !! ?? !! ?? x", true},
			"PW-2 blocklist":                       {"passwordpassword1", false},
			"PW-2 blocklist, the famous one":       {"correct horse battery staple", false},
			"PW-2 blocklist in another case":       {"The Quick Brown Fox", false},
			"PW-2 one character over and over":     {strings.Repeat("z", 20), false},
			"PW-2 a short piece over and over":     {"abcabcabcabcabcabc", false},
			"PW-2 a listed word over and over":     {"sunshinesunshine", false},
			"PW-2 the person's own address":        {"eleonora@example.org", false},
			"PW-2 the person's own name":           {"Eleonora Duse-Checchi", false},
			"PW-2 broken text":                     {"seven green her\xffns", false},
			"PW-2 nothing":                         {"", false},
			"PW-2 listed words and a year":         {"dragonsunshine2024", false},
			"PW-2 a listed word, spelt in digits":  {"P4ssw0rdP4ssw0rd!1", false},
			"PW-2 a walk over the keyboard":        {"qwertyuiopasdfghjkl;"[:19], false},
			"PW-2 two walks and a number":          {"zxcvbnmasdfghjkl99", false},
			"PW-2 a walk backwards":                {"poiuytrewqlkjhgfdsa", false},
			"PW-2 digits in order":                 {"34567890123456789", false},
			"PW-2 listed words with signs between": {"summer-winter-2025!", false},
			"PW-2 one word that nobody lists":      {"summer heron 2025!", true},
			"PW-2 words beside a listed one":       {"my dragon eats plums", true},
			"PW-2 many listed words":               {"tiger lemon black horse coffee moon", true},
			"PW-2 composed and decomposed fold":    {"cafe\u0301 cafe\u0301 cafe\u0301 noir", true},
		} {
			t.Run(name, func(t *testing.T) {
				email := "eleonora@example.org"
				if c.ok {
					email = strings.ReplaceAll(name, " ", ".") + "@example.org"
				}
				_, err := f.AddPerson(ctx, account.NewPerson{Email: email, Name: "Eleonora Duse-Checchi", Password: c.password})
				if c.ok && err != nil {
					t.Error(err)
				}
				if !c.ok {
					wantCode(t, err, account.CodeValidation)
				}
			})
		}
	})
}

func TestPasswordNormalForm(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		if _, err := f.AddPerson(ctx, account.NewPerson{Email: "ada@example.org", Password: "cafe\u0301 au lait, s'il"}); err != nil {
			t.Fatal(err)
		}
		f.signIn(t, "ada@example.org", "caf\u00e9 au lait, s'il")
		c, err := f.d.CredentialsByEmail(ctx, "ada@example.org")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(c.PasswordHash, "$argon2id$v=19$m=64,t=1,p=1$") {
			t.Errorf("PW-1 stored form: %.40s", c.PasswordHash)
		}
	})
}

func TestPasswordDefaults(t *testing.T) {
	t.Parallel()
	h, err := account.NewArgon2(account.PasswordParams{})
	if err != nil {
		t.Fatal(err)
	}
	hash, err := h.Hash(ctx, goodPassword)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("PW-1 default parameters: %.40s, %v", hash, err)
	}
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || len(parts[4]) != 22 || len(parts[5]) != 43 {
		t.Errorf("PW-1 salt of 16 and tag of 32 bytes: %s", hash)
	}
	match, stale, err := h.Verify(ctx, goodPassword, hash)
	if !match || stale || err != nil {
		t.Errorf("verify: %v, stale %v, %v", match, stale, err)
	}
	match, _, err = h.Verify(ctx, "", "")
	if match || err != nil {
		t.Errorf("PW-3 nobody's hash: %v, %v", match, err)
	}
	if _, err := account.NewArgon2(account.PasswordParams{MemoryKiB: 4}); err == nil {
		t.Error("parameters that Argon2 forbids were taken")
	}
}

func TestPasswordRehash(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		f.person(t, "ada@example.org")
		stronger := newFixture(t, f.d, f.clock, func(c *account.Config) { c.Hasher = smallHasher(t, 128) })
		if _, _, err := stronger.SignIn(ctx, "ada@example.org", "wrong wrong wrong wrong", account.Device{}); !errors.Is(err, account.ErrWrongCredentials) {
			t.Error(err)
		}
		c, _ := f.d.CredentialsByEmail(ctx, "ada@example.org")
		if !strings.Contains(c.PasswordHash, "m=64,") {
			t.Errorf("PW-1 a wrong password changed the hash: %.30s", c.PasswordHash)
		}
		stronger.signIn(t, "ada@example.org", goodPassword)
		c, _ = f.d.CredentialsByEmail(ctx, "ada@example.org")
		if !strings.Contains(c.PasswordHash, "m=128,") {
			t.Errorf("PW-1 not hashed anew after the parameters changed: %.30s", c.PasswordHash)
		}
		stronger.signIn(t, "ada@example.org", goodPassword)
		if _, secret := stronger.signIn(t, "ada@example.org", goodPassword); secret == "" {
			t.Error("no session after the new hash")
		}
	})
}

func TestPasswordMemoryBound(t *testing.T) {
	t.Parallel()
	h, err := account.NewArgon2(account.PasswordParams{MemoryKiB: 4096, Iterations: 1, Parallelism: 1, AtOnce: 1, Waiting: 1})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var done, turnedAway int
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			_, err := h.Hash(ctx, goodPassword)
			mu.Lock()
			defer mu.Unlock()
			var exceeded *limit.Exceeded
			switch {
			case err == nil:
				done++
			case errors.As(err, &exceeded):
				turnedAway++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done == 0 || done+turnedAway != 40 || turnedAway == 0 {
		t.Errorf("PW-1 %d done, %d turned away", done, turnedAway)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for range 3 { // a caller who left gives the place in the queue back
		if _, err := h.Hash(cancelled, goodPassword); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("after a cancelled call: %v", err)
		}
	}
}
