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
		{"an unknown person", "", []string{"user", "disable", "nobody@example.com"}, 1, "no such"},
		{"an unknown connection", "", []string{"connection", "end", "01a22be8-b240-7a11-8c00-5d1f00000001"}, 1, "not found"},
		{"an unknown key", "", []string{"keys", "drop", "nothing"}, 1, "not found"},
		{"an unknown attempt", "", []string{"handshake", "show", "nothing"}, 1, "not found"},
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
