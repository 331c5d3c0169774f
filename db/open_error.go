package db

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// URLError says what is wrong with a database's URL. It never shows the URL, which can hold a password.
type URLError struct{ Problem string }

// Error implements error.
func (e *URLError) Error() string { return e.Problem }

// UnreachableError says that a Postgres database cannot be reached.
type UnreachableError struct {
	// Where is host:port/database.
	Where string
	// Reason is what the network or the server said.
	Reason string
	Err    error
}

// Error implements error.
func (e *UnreachableError) Error() string {
	return "cannot reach the database " + e.Where + ": " + e.Reason
}

// Unwrap gives the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// FileError says that an SQLite file cannot be used.
type FileError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *FileError) Error() string { return "database file " + e.Path + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// Damaged reports whether the file is there and can be read, but is no SQLite database, or not any more.
func (e *FileError) Damaged() bool {
	code := sqliteCode(e.Err)
	return code == sqliteCorrupt || code == sqliteNotADB
}

// Primary result codes of SQLite (https://sqlite.org/rescode.html).
const (
	sqlitePerm     = 3
	sqliteReadOnly = 8
	sqliteCorrupt  = 11
	sqliteCantOpen = 14
	sqliteNotADB   = 26
)

// sqliteCode is the primary result code in err, or 0.
func sqliteCode(err error) int {
	var coded interface {
		error
		Code() int
	}
	if !errors.As(err, &coded) {
		return 0
	}
	return coded.Code() & 0xff
}

// unusableFile reports whether err is about the file itself and not about what was asked of it.
func unusableFile(err error) bool {
	switch sqliteCode(err) {
	case sqlitePerm, sqliteReadOnly, sqliteCorrupt, sqliteCantOpen, sqliteNotADB:
		return true
	}
	return false
}

// onFile names the file in errors that are about it.
func (d *DB) onFile(err error) error {
	if d.path != "" && unusableFile(err) {
		return &FileError{Path: d.path, Err: err}
	}
	return err
}

// parsePostgres reads a URL. Its problems are told without the URL's text.
func parsePostgres(raw string) (*pgx.ConnConfig, error) {
	if _, err := url.Parse(raw); err != nil {
		return nil, &URLError{Problem: "not a URL such as postgres://user:password@host:5432/name " +
			"(characters such as / : @ # % in the password must be percent-encoded)"}
	}
	c, err := pgx.ParseConfig(raw)
	if err != nil {
		problem := "not a URL such as postgres://user:password@host:5432/name"
		if inner := errors.Unwrap(err); inner != nil {
			problem += ": " + inner.Error()
		}
		return nil, &URLError{Problem: problem}
	}
	return c, nil
}

func unreachable(c *pgx.ConnConfig, err error) error {
	where := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
	if strings.HasPrefix(c.Host, "/") {
		where = fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
	}
	return &UnreachableError{Where: where, Reason: reason(err), Err: err}
}

// reason is the innermost cause in one line: the driver's own text names user, addresses and every try.
func reason(err error) string {
	var pg *pgconn.PgError
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &pg):
		return pg.Message
	case errors.As(err, &dns):
		return dns.Err
	case errors.As(err, &op) && op.Err != nil:
		return op.Err.Error()
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) && connect.Unwrap() != nil {
		err = connect.Unwrap()
	}
	text := err.Error()
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	return strings.TrimSpace(text)
}
