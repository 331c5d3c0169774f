package app

import (
	"errors"
	"fmt"
	"strings"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/handshake"
	"gatehouse/oauth"
)

// Explain is an error as a command prints it: a refused value is named.
func Explain(err error) string {
	var r *account.Refusal
	if errors.As(err, &r) && r.Path != "" && r.Code == account.CodeValidation {
		return strings.ReplaceAll(r.Path, "_", " ") + " " + r.Hint
	}
	return err.Error()
}

// missing says in words what is not there and which command lists what is. Other errors stay as they are.
func missing(err error, what, name, list string) error {
	for _, none := range []error{account.ErrNotFound, connection.ErrNotFound, oauth.ErrNotFound, handshake.ErrNotFound} {
		if errors.Is(err, none) {
			return fmt.Errorf("there is no %s %q; `gatehouse %s` shows what there is", what, PlainText(name), list)
		}
	}
	return err
}
