package oauth

// Proof Key for Code Exchange: RFC 7636 §4, OAuth 2.1 §4.1.1 and §7.5.1. Left out: the plain transform.

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
)

// ChallengeS256 is the one code_challenge_method offered.
const ChallengeS256 = "S256"

// checkChallenge judges the challenge of an authorization request. Every client must send one, public or not.
func checkChallenge(challenge, method string) *Error {
	switch {
	case challenge == "":
		return InvalidRequest("The code_challenge is missing. PKCE is required.").WithCheck("code_challenge")
	case method == "":
		// RFC 7636 §4.3: a missing method means plain.
		return InvalidRequest("The code_challenge_method is missing, which means plain. Only S256 is supported.").WithCheck("code_challenge_method")
	case method != ChallengeS256:
		return InvalidRequest("The code_challenge_method is not supported. Only S256 is.").WithCheck("code_challenge_method")
	case len(challenge) != base64.RawURLEncoding.EncodedLen(sha256.Size) || strings.ContainsFunc(challenge, notBase64URL):
		return InvalidRequest("The code_challenge must be 43 base64url characters without padding.").WithCheck("code_challenge")
	}
	return nil
}

// verifyChallenge judges the verifier of a token request against the stored challenge (RFC 7636 §4.6).
func verifyChallenge(challenge, verifier string) *Error {
	switch {
	case challenge == "" && verifier != "":
		// RFC 9700 §4.8.2: a verifier without a challenge is the mark of a downgrade.
		return InvalidRequest("A code_verifier came for a code that has no code_challenge.").WithCheck("code_verifier")
	case verifier == "":
		return InvalidRequest("The code_verifier is missing.").WithCheck("code_verifier")
	case len(verifier) < 43 || len(verifier) > 128 || strings.ContainsFunc(verifier, notUnreserved):
		return InvalidGrant("The code_verifier must be 43 to 128 unreserved characters.").WithCheck("code_verifier")
	}
	sum := sha256.Sum256([]byte(verifier))
	computed := base64.RawURLEncoding.EncodeToString(sum[:])
	if subtle.ConstantTimeCompare([]byte(computed), []byte(challenge)) != 1 {
		return InvalidGrant("The code_verifier does not fit the code_challenge.").WithCheck("code_verifier")
	}
	return nil
}

func notBase64URL(r rune) bool { return notWordCharacter(r) }

// notUnreserved: unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~".
func notUnreserved(r rune) bool { return r != '.' && r != '~' && notWordCharacter(r) }
