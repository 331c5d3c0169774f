package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
)

// The example of RFC 7636 Appendix B.
const (
	vectorVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	vectorChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

func TestCheckChallenge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, challenge, method, check string
	}{
		{"RFC7636-B good", vectorChallenge, "S256", ""},
		{"PK-1 missing", "", "S256", "code_challenge"},
		{"PK-1 missing altogether", "", "", "code_challenge"},
		{"PK-2 plain", vectorChallenge, "plain", "code_challenge_method"},
		{"PK-2 missing method", vectorChallenge, "", "code_challenge_method"},
		{"PK-2 method in lower case", vectorChallenge, "s256", "code_challenge_method"},
		{"PK-3 42 characters", vectorChallenge[1:], "S256", "code_challenge"},
		{"PK-3 44 characters", vectorChallenge + "A", "S256", "code_challenge"},
		{"PK-3 padding", vectorChallenge[:42] + "=", "S256", "code_challenge"},
		{"PK-3 character outside base64url", vectorChallenge[:42] + "~", "S256", "code_challenge"},
		{"PK-3 base64 instead of base64url", vectorChallenge[:42] + "+", "S256", "code_challenge"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := checkChallenge(tt.challenge, tt.method)
			if tt.check == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			if e := wantError(t, err, "invalid_request", 400); e.Check != tt.check {
				t.Errorf("check is %q, want %q", e.Check, tt.check)
			}
			if tt.challenge != "" && strings.Contains(err.Error(), tt.challenge) {
				t.Error("PK-7 the error repeats the challenge")
			}
			if tt.check == "code_challenge_method" && !strings.Contains(err.Description, "S256") {
				t.Error("PK-2 the description does not name the transform")
			}
		})
	}
}

func TestVerifyChallenge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, challenge, verifier, code string
	}{
		{"RFC7636-B good", vectorChallenge, vectorVerifier, ""},
		{"PK-4 missing", vectorChallenge, "", "invalid_request"},
		{"PK-4 mismatch", vectorChallenge, "x" + vectorVerifier[1:], "invalid_grant"},
		{"PK-4 the challenge itself", vectorChallenge, vectorChallenge, "invalid_grant"},
		{"PK-4 too short", vectorChallenge, vectorVerifier[1:], "invalid_grant"},
		{"PK-4 too long", vectorChallenge, strings.Repeat("a", 129), "invalid_grant"},
		{"PK-4 character outside unreserved", vectorChallenge, vectorVerifier[1:] + "+", "invalid_grant"},
		{"PK-4 whole unreserved set", challengeOf(unreserved), unreserved, ""},
		{"PK-5 no challenge stored", "", vectorVerifier, "invalid_request"},
		{"PK-5 neither", "", "", "invalid_request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := verifyChallenge(tt.challenge, tt.verifier)
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			wantError(t, err, tt.code, 400)
			if tt.challenge != "" && strings.Contains(err.Error(), tt.challenge) {
				t.Error("PK-7 the error repeats the challenge")
			}
		})
	}
}

const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"

func FuzzVerifyChallenge(f *testing.F) {
	f.Add(vectorChallenge, vectorVerifier)
	f.Add("", "")
	f.Fuzz(func(t *testing.T, challenge, verifier string) {
		if verifyChallenge(challenge, verifier) == nil && challengeOf(verifier) != challenge {
			t.Errorf("verifier %q passed for challenge %q", verifier, challenge)
		}
	})
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
