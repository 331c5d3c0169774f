package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatehouse/app"
	"gatehouse/db/dbtest"
)

// What somebody meets who does not know the program yet.

// looking are the commands that work on an installation and make none.
var looking = [][]string{
	{"user", "list"},
	{"user", "disable", "ada@example.com"},
	{"user", "enable", "ada@example.com"},
	{"user", "reset-link", "ada@example.com"},
	{"token", "add", "--user", "ada@example.com"},
	{"token", "list", "--user", "ada@example.com"},
	{"token", "revoke", "x"},
	{"connection", "list"},
	{"connection", "end", "x"},
	{"client", "list"},
	{"client", "add", "--name", "App", "--redirect-uri", "https://app.example/cb"},
	{"client", "block", "x"},
	{"client", "unblock", "x"},
	{"client", "delete", "x"},
	{"keys", "list"},
	{"keys", "rotate"},
	{"keys", "drop", "x"},
	{"handshake", "list"},
	{"handshake", "show", "x"},
}

func TestLookingMakesNothing(t *testing.T) {
	t.Parallel()
	for _, args := range looking {
		dir := filepath.Join(t.TempDir(), "nowhere")
		status, out, errOut := gatehouse(t, dir, "", args...)
		if status != 1 || out != "" || errOut != "gatehouse: no installation at "+dir+" (use --data-dir or GATEHOUSE_DATA_DIR, or start with gatehouse serve)\n" {
			t.Errorf("%v: status %d, out %q, err %q", args, status, out, errOut)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%v made the folder", args)
		}
	}
	dir := filepath.Join(t.TempDir(), "nowhere")
	if status, out, errOut := gatehouse(t, dir, "", "migrate", "status"); status != 0 || !strings.Contains(out, "pending") || strings.Contains(out, "applied") {
		t.Errorf("status of a database that is not there: %d, %q, %q", status, out, errOut)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("migrate status made the folder")
	}
}

func TestLookingMakesNothingOnPostgres(t *testing.T) {
	t.Parallel()
	url := dbtest.PostgresURL(t)
	c, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "nowhere")
	look := func() {
		t.Helper()
		status, _, errOut := gatehouse(t, dir, "", "user", "list", "--database-url", url)
		if status != 1 || !strings.Contains(errOut, "no installation in the database of GATEHOUSE_DATABASE_URL") {
			t.Errorf("status %d, %q", status, errOut)
		}
	}
	look()
	if _, out, errOut := gatehouse(t, dir, "", "migrate", "status", "--database-url", url); errOut != "" || strings.Contains(out, "applied") {
		t.Errorf("tables were made: %q %q", out, errOut)
	}
	if status, _, errOut := gatehouse(t, dir, "", "migrate", "--database-url", url); status != 0 {
		t.Fatal(errOut)
	}
	look() // tables, but no key yet: this command's folder is not the one to make it in
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("the folder was made")
	}
}

// A command has settings of its own, which need not be the server's.
func TestKeysAreMadeByServerAndKeysAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := func() string {
		t.Helper()
		_, out, errOut := gatehouse(t, dir, "", "keys", "list", "--json")
		if errOut != "" {
			t.Fatal(errOut)
		}
		return out
	}
	if status, _, errOut := gatehouse(t, dir, password+"\n", "user", "add", "ada@example.com", "--password-file", "-"); status != 0 {
		t.Fatal(errOut)
	}
	if out := keys(); strings.TrimSpace(out) != "[]" {
		t.Errorf("user add made keys: %s", out)
	}
	if status, _, errOut := gatehouse(t, dir, "", "keys", "rotate", "--signing-algorithm", "EdDSA"); status != 0 {
		t.Fatal(errOut)
	}
	before := keys()
	if strings.Count(before, "EdDSA") < 2 {
		t.Fatalf("keys %s", before)
	}
	for _, args := range [][]string{{"user", "list"}, {"token", "add", "--user", "ada@example.com"}, {"client", "list"}, {"handshake", "list"}, {"user", "add", "grace@example.com"}, {"migrate"}} {
		if status, _, errOut := gatehouse(t, dir, "", args...); status != 0 || keys() != before {
			t.Errorf("%v: status %d, %s; keys before %s, after %s", args, status, errOut, before, keys())
		}
	}
}

func TestMissingSecretKeyLeadsBackToIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if status, _, errOut := gatehouse(t, dir, "", "user", "add", "ada@example.com"); status != 0 {
		t.Fatal(errOut)
	}
	file := filepath.Join(dir, "secret.key")
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"user", "list"}, {"user", "add", "grace@example.com"}, {"serve", "--listen", "127.0.0.1:0"}} {
		status, _, errOut := gatehouse(t, dir, "", args...)
		if status != 1 || !strings.Contains(errOut, file) || !strings.Contains(errOut, "Do not make a new one") || strings.Contains(errOut, "openssl") {
			t.Errorf("KY-4 %v: status %d, %s", args, status, errOut)
		}
	}
	if status, _, errOut := gatehouse(t, dir, "", "user", "list", "--secret-key", strings.TrimSpace(string(key))); status != 0 {
		t.Errorf("KY-4 what the message says does not work: %s", errOut)
	}
}

func TestRewrap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(want int, args ...string) string {
		t.Helper()
		status, out, errOut := gatehouse(t, dir, "", args...)
		if status != want {
			t.Fatalf("KY-4 %v: status %d, want %d: %s", args, status, want, errOut)
		}
		return out + errOut
	}
	run(0, "user", "add", "ada@example.com")
	run(0, "keys", "rotate") // sealed under the data key
	list := run(0, "keys", "list", "--json")
	file := filepath.Join(dir, "secret.key")
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := run(0, "rewrap")
	second, err := os.ReadFile(file)
	if err != nil || bytes.Equal(first, second) || strings.Contains(out, strings.TrimSpace(string(second))) {
		t.Fatalf("KY-4 the key file after rewrap: %v; printed %s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("KY-4 the new key file: %v %v", info, err)
	}
	if got := run(0, "keys", "list", "--json"); got != list {
		t.Errorf("KY-4 keys after rewrap: %s, before %s", got, list)
	}
	run(0, "keys", "rotate") // opens and seals
	run(1, "user", "list", "--secret-key", strings.TrimSpace(string(first)))

	// Interrupted: the database has the new key, the file has not taken its place.
	next := filepath.Join(t.TempDir(), "key")
	run(0, "rewrap", "--new-key-file", next)
	run(1, "user", "list")
	run(0, "user", "list", "--secret-key-file", next)
	run(0, "user", "list", "--secret-key-command", "cat '"+next+"'")
	third, err := os.ReadFile(next)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".next", third, 0o600); err != nil {
		t.Fatal(err)
	}
	run(0, "user", "list")
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, third) {
		t.Errorf("KY-4 the interrupted change was not finished: %v", err)
	}
	if out := run(2, "rewrap", "--secret-key-file", file); !strings.Contains(out, "--new-key-file") {
		t.Errorf("KY-4 a key from the settings: %s", out)
	}
}

func TestDatabaseErrorsAreOneSentence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "gatehouse.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"nobody listens": {[]string{"--database-url", "postgres://u:hunter2@127.0.0.1:1/home"},
			[]string{"cannot reach the database of GATEHOUSE_DATABASE_URL (127.0.0.1:1/home): is it running, does it exist?"}},
		"not a database":        {[]string{"--database-url", "sqlite://" + text}, []string{text, "restore it from a backup"}},
		"a folder in its place": {nil, []string{filepath.Join(dir, "gatehouse.db"), "GATEHOUSE_DATA_DIR"}},
	} {
		for _, command := range [][]string{{"user", "list"}, {"user", "add", "ada@example.com"}, {"migrate"}, {"migrate", "status"}, {"serve", "--listen", "127.0.0.1:0"}} {
			status, out, errOut := gatehouse(t, dir, "", append(command, c.args...)...)
			if status != 1 || out != "" || strings.Count(errOut, "\n") != 1 || strings.Contains(errOut, "hunter2") {
				t.Errorf("%s, %v: status %d, out %q, err %q", name, command, status, out, errOut)
			}
			for _, want := range c.want {
				if !strings.Contains(errOut, want) {
					t.Errorf("%s, %v: %q lacks %q", name, command, errOut, want)
				}
			}
		}
	}
}

func TestExpectedConflictIsNotLogged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		status, _, errOut := gatehouse(t, dir, "", "user", "add", "ada@example.com", "--log-level", "debug")
		if status == 1 && (strings.Contains(errOut, "INSERT") || strings.Count(errOut, "\n") != 1) {
			t.Errorf("the same person twice: %s", errOut)
		}
	}
}

func TestTokenListShowsExpiry(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gatehouse(t, dir, "", "user", "add", "ada@example.com")
	if status, _, errOut := gatehouse(t, dir, "", "token", "add", "--user", "ada@example.com", "--expires", "24h"); status != 0 {
		t.Fatal(errOut)
	}
	_, out, _ := gatehouse(t, dir, "", "token", "list", "--user", "ada@example.com")
	if tomorrow := time.Now().UTC().Add(24 * time.Hour).Format("2006-01-02 15:"); !strings.Contains(out, "EXPIRES") || !strings.Contains(out, tomorrow) {
		t.Errorf("%s", out)
	}
	for name, args := range map[string][]string{"a negative life": {"--expires=-1h"}, "a foreign location": {"--location", "x"}} {
		if status, out, errOut := gatehouse(t, dir, "", append([]string{"token", "add", "--user", "ada@example.com"}, args...)...); status == 0 || out != "" {
			t.Errorf("%s: %s%s", name, out, errOut)
		}
	}
	gatehouse(t, dir, "", "user", "disable", "ada@example.com")
	for _, args := range [][]string{{"token", "add", "--user", "ada@example.com"}, {"user", "reset-link", "ada@example.com"}} {
		if status, _, errOut := gatehouse(t, dir, "", args...); status != 1 || !strings.Contains(errOut, "gatehouse user enable") {
			t.Errorf("%v for a disabled person: %d %s", args, status, errOut)
		}
	}
}

// A command's own flags come first; the settings, which are the same everywhere, come last.
func TestHelpBeginsWithOwnFlags(t *testing.T) {
	t.Parallel()
	own := map[string]string{"user add": "--password-file", "token add": "--expires", "client add": "--redirect-uri", "connection list": "--user", "handshake list": "--limit"}
	for command, flag := range own {
		_, out, _ := gatehouse(t, t.TempDir(), "", append(strings.Fields(command), "--help")...)
		flags, common, settings := strings.Index(out, "Flags:"), strings.Index(out, "Flags of every command:"), strings.Index(out, "Settings")
		at := strings.LastIndex(out, flag)
		if flags < 0 || at < flags || common < at || settings < common || strings.Index(out, "--listen") < settings {
			t.Errorf("%s --help:\n%s", command, out)
		}
	}
	_, out, _ := gatehouse(t, t.TempDir(), "", "user", "list", "--help")
	for _, name := range regexp.MustCompile(`\$GATEHOUSE_\w+`).FindAllStringIndex(out, -1) {
		if name[0] < strings.Index(out, "Settings") {
			t.Errorf("a setting stands outside of Settings:\n%s", out)
		}
	}
}

func TestAddressInUseNamesTheSetting(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	status, _, errOut := gatehouse(t, t.TempDir(), "", "serve", "--listen", l.Addr().String())
	if status != 1 || !strings.Contains(errOut, "GATEHOUSE_LISTEN") || !strings.Contains(errOut, "is in use") {
		t.Errorf("status %d, %s", status, errOut)
	}
}

func TestServeWarnsOfUnknownVariables(t *testing.T) {
	for name, value := range map[string]string{"GATEHOUSE_PUBLC_URL": "https://home.example", "GATEHOUSE_TEST_SOMETHING": "1", "GATEHOUSE_SERVICE_HOST": "10.0.0.1",
		"GATEHOUSE_PORT": "tcp://10.0.0.1:80", "GATEHOUSE_READS_PER_MINUTE": "120"} {
		t.Setenv(name, value)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // it starts, and stops at once
	cfg := app.Config{Listen: "127.0.0.1:0", PublicURL: "http://127.0.0.1", DataDir: t.TempDir(), LogLevel: "warn", LogFormat: "json", SigningAlgorithm: "ES256",
		AccessTokenLife: time.Hour, AuditKeep: 365 * 24 * time.Hour, Argon2Memory: 19456, Argon2Time: 2, ReadsPerMinute: 1, WritesPerMinute: 1}
	var log bytes.Buffer
	_ = app.Serve(ctx, cfg, "test", io.Discard, &log)
	var names []string
	for line := range strings.Lines(log.String()) {
		var entry struct{ Name string }
		if err := json.Unmarshal([]byte(line), &entry); err == nil && entry.Name != "" {
			names = append(names, entry.Name)
		}
	}
	if len(names) != 1 || names[0] != "GATEHOUSE_PUBLC_URL" {
		t.Errorf("warned of %q: %s", names, &log)
	}
}
