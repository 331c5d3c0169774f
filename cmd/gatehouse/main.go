// Command gatehouse is the program: the server, and the commands that look after it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // zone names work on machines and images without zone files

	"github.com/alecthomas/kong"

	"gatehouse/app"
)

// version is set by the linker for releases.
var version = ""

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
)

type cli struct {
	app.Config
	JSON bool `name:"json" help:"Print JSON."`

	Serve      serveCmd      `cmd:"" help:"Run the server."`
	Migrate    migrateCmd    `cmd:"" help:"Bring the database up to date, or show where it stands."`
	User       userCmd       `cmd:"" help:"People."`
	Token      tokenCmd      `cmd:"" help:"Personal tokens."`
	Connection connectionCmd `cmd:"" help:"Connections of AI apps."`
	Client     clientCmd     `cmd:"" help:"OAuth clients."`
	Keys       keysCmd       `cmd:"" help:"Signing keys."`
	Handshake  handshakeCmd  `cmd:"" help:"Connection attempts, step by step."`
	Doctor     doctorCmd     `cmd:"" help:"Walk the way of AI apps to a server and say what would fail."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// env is what commands work with.
type env struct {
	ctx    context.Context
	cfg    app.Config
	json   bool
	in     io.Reader
	out    io.Writer
	errOut io.Writer
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, errOut io.Writer) int {
	var c cli
	exit := -1
	parser, err := kong.New(&c, kong.Name("gatehouse"), kong.Writers(out, errOut), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Exit(func(code int) { exit = code }),
		kong.Description("Lets people connect AI apps to what they own and run, and stay in charge of it."))
	if err != nil {
		fmt.Fprintln(errOut, "gatehouse:", err)
		return exitFailed
	}
	command, err := parser.Parse(args)
	if exit >= 0 { // --help was asked for
		return exit
	}
	if err != nil {
		fmt.Fprintf(errOut, "gatehouse: %v\nTry gatehouse --help.\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = command.Run(&env{ctx: ctx, cfg: c.Config, json: c.JSON, in: in, out: out, errOut: errOut})
	var usage *app.UsageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintln(errOut, "gatehouse:", err)
		return exitUsage
	default:
		fmt.Fprintln(errOut, "gatehouse:", app.Explain(err))
		return exitFailed
	}
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(e *env) error {
	v := map[string]string{"version": versionText()}
	return e.print(v, func(w io.Writer) { fmt.Fprintln(w, "gatehouse", v["version"]) })
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
