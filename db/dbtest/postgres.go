package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the "pgx" driver, for CREATE DATABASE

	"gatehouse/db"
)

var errNoPostgres = errors.New("no Postgres: set GATEHOUSE_TEST_POSTGRES=postgres://… or install the server (initdb and postgres), for example Debian's package postgresql")

// server gives the URL of a server to make databases on, or skips the test loudly.
func server(t testing.TB) string {
	t.Helper()
	base, err := cluster()
	if errors.Is(err, errNoPostgres) && os.Getenv("GATEHOUSE_TEST_ALL") != "1" {
		t.Skip("SKIPPED ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return base
}

var cluster = sync.OnceValues(func() (string, error) {
	if u := os.Getenv("GATEHOUSE_TEST_POSTGRES"); u != "" {
		return u, nil
	}
	bin, err := programs()
	if err != nil {
		return "", err
	}
	return startCluster(bin)
})

// programs finds the folder with initdb and postgres.
func programs() (string, error) {
	if p, err := osexec.LookPath("initdb"); err == nil {
		return filepath.Dir(p), nil
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin"} {
		dirs, _ := filepath.Glob(pattern)
		for i := len(dirs) - 1; i >= 0; i-- {
			if _, err := os.Stat(filepath.Join(dirs[i], "initdb")); err == nil {
				return dirs[i], nil
			}
		}
	}
	return "", errNoPostgres
}

// watch runs the server until its own standard input ends, which happens when the test process is gone, however it ends.
const watch = `"$1/postgres" -D "$2" -k "$2" -c listen_addresses= -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=400 </dev/null >"$2/log" 2>&1 &
pid=$!; cat >/dev/null; kill -QUIT $pid; wait $pid; rm -rf "$2"`

// keepAlive holds the pipe whose end stops the server.
var keepAlive io.WriteCloser

func startCluster(bin string) (string, error) {
	dir, err := os.MkdirTemp("", "gh-pg-")
	if err != nil {
		return "", err
	}
	attr, err := unprivileged(dir)
	if err != nil {
		return "", err
	}
	init := osexec.Command(filepath.Join(bin, "initdb"), "-D", dir, "-U", "gatehouse", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	init.SysProcAttr, init.Dir = attr, dir
	if out, err := init.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w\n%s", err, out)
	}
	run := osexec.Command("sh", "-c", watch, "sh", bin, dir)
	run.SysProcAttr, run.Dir = attr, dir
	if keepAlive, err = run.StdinPipe(); err != nil {
		return "", err
	}
	if err := run.Start(); err != nil {
		return "", fmt.Errorf("start postgres: %w", err)
	}
	base := "postgres://gatehouse@/postgres?host=" + dir
	return base, waitReady(base, filepath.Join(dir, "log"))
}

func waitReady(base, log string) error {
	c, err := sql.Open("pgx", base)
	if err != nil {
		return err
	}
	defer c.Close()
	for range 200 {
		if err = c.Ping(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(log)
	return fmt.Errorf("postgres does not answer: %w\n%s", err, text)
}

// unprivileged gives the attributes to run the server as somebody other than root, which it refuses, and hands that
// account the folder.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{Setpgid: true}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("run postgres as an unprivileged user: %w", err)
		}
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// postgresTemplate makes one migrated database that the tests' databases are copied from.
var postgresTemplate = sync.OnceValues(func() (string, error) {
	base, err := cluster()
	if err != nil {
		return "", err
	}
	name := "gh_template_" + randomName()
	c, err := sql.Open("pgx", base)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := c.Exec("CREATE DATABASE " + name); err != nil {
		return "", err
	}
	d, err := db.Open(context.Background(), db.Options{URL: withDatabase(base, name), Now: time.Now})
	if err != nil {
		return "", err
	}
	if err := d.Migrate(context.Background()); err != nil {
		return "", err
	}
	return name, d.Close()
})

func exec(t testing.TB, base, statement string) {
	t.Helper()
	c, err := sql.Open("pgx", base)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Exec(statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}
