package apptest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("GATEHOUSE_TEST_BINARY"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "gatehouse-bin-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gatehouse")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/gatehouse")
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// Root is the folder of the module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Program is one running process of the real binary.
type Program struct {
	// URL is the public URL that it printed, Dir its data folder, Env its environment beyond PATH and HOME.
	URL, Dir string
	Env      []string

	cmd  *exec.Cmd
	logs *syncBuffer
}

// Start builds the binary once and starts it on a free loopback port with a data folder of its own. It stops when the
// test ends. Environment entries are GATEHOUSE_… settings; they win over the defaults.
func Start(t testing.TB, env ...string) *Program {
	t.Helper()
	p := &Program{Dir: t.TempDir(), logs: &syncBuffer{}}
	p.Env = append([]string{"GATEHOUSE_LISTEN=127.0.0.1:0", "GATEHOUSE_DATA_DIR=" + p.Dir, "GATEHOUSE_LOG_FORMAT=json"}, env...)
	p.start(t)
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("log of the program:\n%s", p.Logs())
		}
	})
	return p
}

var readyLine = regexp.MustCompile(`https?://[^\s]+`)

func (p *Program) start(t testing.TB) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(path, "serve")
	p.cmd.Env = p.environ()
	p.cmd.Stderr = p.logs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(io.TeeReader(out, p.logs)).ReadString('\n')
	if p.URL = strings.TrimSuffix(readyLine.FindString(line), "/"); err != nil || p.URL == "" {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		t.Fatalf("the program did not get ready: %v\n%s", err, p.Logs())
	}
	go func() { _, _ = io.Copy(p.logs, out) }()
}

func (p *Program) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir}, p.Env...)
}

// Stop asks the program to stop and waits; one that does not is killed.
func (p *Program) Stop() {
	if p.cmd == nil || p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
}

// Restart stops the program and starts it again on the same address and data.
func (p *Program) Restart(t testing.TB) {
	t.Helper()
	p.Stop()
	p.Env = append(p.Env, "GATEHOUSE_LISTEN="+strings.TrimPrefix(p.URL, "http://"))
	p.start(t)
}

// Kill ends the program at once, as a crash would.
func (p *Program) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

var boundAddress = regexp.MustCompile(`"address":"([^"]+)"`)

// Bound is the address that the program listens on, from its log; it differs from URL where a public URL is set.
func (p *Program) Bound(t testing.TB) string {
	t.Helper()
	for range 100 {
		if m := boundAddress.FindStringSubmatch(p.Logs()); m != nil {
			return m[1]
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("the log does not tell the address:\n%s", p.Logs())
	return ""
}

// PID is the process id.
func (p *Program) PID() int { return p.cmd.Process.Pid }

// Logs is all that the program wrote.
func (p *Program) Logs() string { return p.logs.String() }

// Run runs a subcommand of the binary with the program's environment and standard input; it returns standard output.
func (p *Program) Run(stdin string, args ...string) (string, error) {
	path, err := binary()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = p.environ()
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// Password is the password that AddUser gives.
const Password = "seven quiet otters swim home"

// AddUser adds a person on the command line and returns their browser.
func (p *Program) AddUser(t testing.TB, email string, args ...string) *Browser {
	t.Helper()
	args = append([]string{"user", "add", email, "--password-file", "-"}, args...)
	if _, err := p.Run(Password+"\n", args...); err != nil {
		t.Fatal(err)
	}
	return NewBrowser(email, Password)
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
