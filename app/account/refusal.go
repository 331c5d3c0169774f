package account

import (
	"errors"
	"fmt"
	"strings"
)

// Refusal is an answer to the person or program that asked: a code of the product's vocabulary, the field it is about
// where there is one, and a sentence for a human. It never repeats a value that was sent.
type Refusal struct {
	Code string
	// Path names the field: "email", "location_ids[0]".
	Path string
	Hint string
	// Text is the hint before the Values went in for its placeholders, so that it can be said in another language. Values
	// are names and values by turns.
	Text   string
	Values []any
}

// Error is the sentence.
func (r *Refusal) Error() string { return r.Hint }

// Codes of refusals.
const (
	CodeValidation         = "validation"
	CodeForbidden          = "forbidden"
	CodeNotFound           = "not_found"
	CodeConflict           = "conflict"
	CodeGone               = "gone"
	CodeLastOwner          = "last_owner"
	CodeLimitReached       = "limit_reached"
	CodeHTTPSRequired      = "https_required"
	CodeCrossLocationWrite = "cross_location_write"
	CodeWrongCredentials   = "wrong_credentials"
	CodeUnauthorized       = "unauthorized"
)

// Refuse makes a refusal. Values are the names of the hint's placeholders, each with its value: "n", 3 puts 3 for {n}.
func Refuse(code, path, hint string, values ...any) *Refusal {
	filled := hint
	for i := 0; i+1 < len(values); i += 2 {
		filled = strings.ReplaceAll(filled, fmt.Sprintf("{%v}", values[i]), fmt.Sprint(values[i+1]))
	}
	return &Refusal{Code: code, Path: path, Hint: filled, Text: hint, Values: values}
}

// CodeOf is the code of the refusal in err, or "" when there is none.
func CodeOf(err error) string {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

// Refusals that stores and services give.
var (
	// ErrNotFound says that there is no such row, or that the asker may not know of it.
	ErrNotFound = Refuse(CodeNotFound, "", "There is no such entry.")
	// ErrEmailTaken says that a person with this address exists.
	ErrEmailTaken = Refuse(CodeConflict, "email", "A person with this e-mail address already exists.")
	// ErrWrongCredentials is the one answer to an unknown address, a wrong password and a disabled person.
	ErrWrongCredentials = Refuse(CodeWrongCredentials, "", "The e-mail address or the password is not right.")
	// ErrUnauthorized is the one answer to an unknown, revoked or expired personal token.
	ErrUnauthorized = Refuse(CodeUnauthorized, "", "This token is unknown, expired or revoked.")
	// ErrLinkGone is the one answer to an unknown, used, replaced or expired one-time link.
	ErrLinkGone = Refuse(CodeGone, "", "This link was used before or is no longer valid.")
	// ErrLastAdmin says that the only administrator stays one who can sign in.
	ErrLastAdmin = Refuse(CodeConflict, "", "This is the only administrator who can sign in. Make somebody else one first.")
)
