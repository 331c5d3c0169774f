package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const password = "seven quiet otters swim"

// gatehouse runs the program with a data folder and gives its exit status and output.
func gatehouse(t *testing.T, dir, stdin string, args ...string) (status int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(append(args, "--data-dir", dir), strings.NewReader(stdin), &o, &e)
	return status, o.String(), e.String()
}

func TestExitStatus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		name   string
		stdin  string
		args   []string
		status int
		text   string
	}{
		{"done", "", []string{"version"}, 0, "gatehouse"},
		{"help", "", []string{"--help"}, 0, "Usage: gatehouse"},
		{"help of a command", "", []string{"user", "add", "--help"}, 0, "--password-file"},
		{"no command", "", nil, 2, "expected one of"},
		{"unknown command", "", []string{"fly"}, 2, "unexpected argument fly"},
		{"unknown flag", "", []string{"serve", "--fly"}, 2, "unknown flag"},
		{"a public URL that is none", "", []string{"user", "list", "--public-url", "home"}, 2, "GATEHOUSE_PUBLIC_URL"},
		{"both keys", "", []string{"user", "list", "--secret-key", "a", "--secret-key-file", "b"}, 2, "keep one"},
		{"a short password", "short\n", []string{"user", "add", "a@example.com", "--password-file", "-"}, 1, "password must"},
		{"an empty password", "\n", []string{"user", "add", "a@example.com", "--password-file", "-"}, 2, "empty"},
		{"an address that is none", password, []string{"user", "add", "nobody", "--password-file", "-"}, 1, "email"},
		{"help as a word", "", []string{"help"}, 0, "Usage: gatehouse"},
		{"help as a word before a command", "", []string{"help", "user", "add"}, 0, "Usage: gatehouse user add"},
		{"an address without a port", "", []string{"serve", "--listen", "8080"}, 2, "GATEHOUSE_LISTEN"},
		{"an address with a port that is none", "", []string{"serve", "--listen", "127.0.0.1:99999"}, 2, "GATEHOUSE_LISTEN"},
		{"a database of another kind", "", []string{"user", "list", "--database-url", "mysql://u:hunter2@h/d"}, 2, "GATEHOUSE_DATABASE_URL"},
		{"certificates that are not there", "", []string{"user", "list", "--fetch-ca-file", "nothing"}, 1, "GATEHOUSE_FETCH_CA_FILE"},
		{"a key file that is not there", "", []string{"user", "list", "--secret-key-file", "nothing"}, 1, "GATEHOUSE_SECRET_KEY_FILE"},
		{"an unknown person", "", []string{"user", "disable", "nobody@example.com"}, 1, `no person with the address "nobody@example.com"; ` + "`gatehouse user list`"},
		{"tokens of an unknown person", "", []string{"token", "list", "--user", "nobody@example.com"}, 1, "`gatehouse user list`"},
		{"an unknown token", "", []string{"token", "revoke", "nothing"}, 1, `no token "nothing"; ` + "`gatehouse token list"},
		{"an unknown connection", "", []string{"connection", "end", "01a22be8-b240-7a11-8c00-5d1f00000001"}, 1, "`gatehouse connection list"},
		{"an unknown client", "", []string{"client", "block", "nothing"}, 1, `no client "nothing"; ` + "`gatehouse client list`"},
		{"an unknown client to delete", "", []string{"client", "delete", "nothing"}, 1, "`gatehouse client list`"},
		{"an unknown key", "", []string{"keys", "drop", "nothing"}, 1, `no signing key "nothing"; ` + "`gatehouse keys list`"},
		{"a key whose id begins with a dash", "", []string{"keys", "drop", "-_4Be5gpImkLgf0fyg_Qo_Cpj1ifsIJUSHbDHQsMlNw"}, 1, `no signing key "-_4Be5`},
		{"a key whose id begins with two", "", []string{"keys", "drop", "--4Be5gpImkLgf0fyg_Qo_Cpj1ifsIJUSHbDHQsMlNw"}, 1, `no signing key "--4Be5`},
		{"an unknown attempt", "", []string{"handshake", "show", "nothing"}, 1, "`gatehouse handshake list`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, out, errOut := gatehouse(t, dir, c.stdin, c.args...)
			if status != c.status || !strings.Contains(out+errOut, c.text) {
				t.Errorf("status %d, want %d with %q:\n%s%s", status, c.status, c.text, out, errOut)
			}
		})
	}
}

func TestJSONEverywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if status, _, errOut := gatehouse(t, dir, password+"\n", "user", "add", "ada@example.com", "--admin", "--password-file", "-"); status != 0 {
		t.Fatal(errOut)
	}
	for _, args := range [][]string{
		{"version"}, {"migrate"}, {"migrate", "status"}, {"user", "list"}, {"user", "add", "grace@example.com"}, {"user", "reset-link", "ada@example.com"},
		{"user", "disable", "grace@example.com"}, {"user", "enable", "grace@example.com"}, {"token", "add", "--user", "ada@example.com"},
		{"token", "list", "--user", "ada@example.com"}, {"connection", "list"}, {"client", "add", "--name", "App", "--redirect-uri", "https://app.example/cb", "--confidential"},
		{"client", "list"}, {"keys", "list"}, {"keys", "rotate"}, {"handshake", "list"},
	} {
		status, out, errOut := gatehouse(t, dir, "", append(args, "--json")...)
		if status != 0 || !json.Valid([]byte(out)) || errOut != "" {
			t.Errorf("%v: status %d, out %q, err %q", args, status, out, errOut)
		}
		if status, out, errOut = gatehouse(t, dir, "", args...); status != 0 && args[1] != "add" {
			t.Errorf("%v without --json: status %d, out %q, err %q", args, status, out, errOut)
		}
	}
}

func TestTokenAddPrintsTheTokenAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := gatehouse(t, dir, "", "user", "add", "ada@example.com", "--password-file", file); status != 0 {
		t.Fatal(errOut)
	}
	_, out, errOut := gatehouse(t, dir, "", "token", "add", "--user", "ada@example.com", "--scope", "write")
	if !strings.HasPrefix(out, "gth_") || strings.Count(out, "\n") != 1 || errOut != "" {
		t.Errorf("KE-102 out %q, err %q", out, errOut)
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if status, _, errOut := gatehouse(t, dir, "", "migrate"); status != 0 {
		t.Fatal(errOut)
	}
	c, err := sql.Open("sqlite", filepath.Join(dir, "gatehouse.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Exec(`INSERT INTO migrations (id) VALUES ('9999_from_the_future')`); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"migrate"}, {"user", "list"}, {"serve", "--listen", "127.0.0.1:0"}} {
		if status, _, errOut := gatehouse(t, dir, "", args...); status != 1 || !strings.Contains(errOut, "newer version") {
			t.Errorf("%v on a newer database: status %d, %s", args, status, errOut)
		}
	}
}
