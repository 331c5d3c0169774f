// Command gatehouse is the program: the server, and the commands that look after it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
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
	app.Config `group:"settings"`
	JSON       bool `name:"json" help:"Print JSON."`

	Serve        serveCmd        `cmd:"" help:"Run the server."`
	Migrate      migrateCmd      `cmd:"" help:"Bring the database up to date, or show where it stands."`
	User         userCmd         `cmd:"" help:"People."`
	Invite       inviteCmd       `cmd:"" help:"Invitations into locations."`
	Provider     providerCmd     `cmd:"" help:"Servers at which people can sign in by OpenID Connect."`
	Token        tokenCmd        `cmd:"" help:"Personal tokens."`
	Connection   connectionCmd   `cmd:"" help:"Connections of AI apps."`
	Client       clientCmd       `cmd:"" help:"OAuth clients."`
	Issuer       issuerCmd       `cmd:"" help:"Identity providers whose assertions are accepted."`
	Policy       policyCmd       `cmd:"" help:"What holds for clients: who may register, which hosts are trusted."`
	Registration registrationCmd `cmd:"" help:"Tokens with which clients register, where the policy asks for one."`
	Keys         keysCmd         `cmd:"" help:"Signing keys."`
	Rewrap       rewrapCmd       `cmd:"" help:"Give the database another secret key."`
	Handshake    handshakeCmd    `cmd:"" help:"Connection attempts, step by step."`
	Audit        auditCmd        `cmd:"" help:"The record of what changed who may do what."`
	Doctor       doctorCmd       `cmd:"" help:"Walk the way of AI apps to a server and say what would fail."`
	Version      versionCmd      `cmd:"" help:"Print the version."`
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
	parser, err := newParser(&c, out, errOut, func(code int) { exit = code })
	if err != nil {
		fmt.Fprintln(errOut, "gatehouse:", err)
		return exitFailed
	}
	command, err := parser.Parse(dashedIDs(wordHelp(args)))
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

// newParser makes the parser of the command line. In its help a command's own flags come first, then those that all have,
// then the settings, which are the same everywhere.
func newParser(c *cli, out, errOut io.Writer, exit func(int)) (*kong.Kong, error) {
	parser, err := kong.New(c, kong.Name("gatehouse"), kong.Writers(out, errOut), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Exit(exit),
		kong.ExplicitGroups([]kong.Group{{Key: "settings", Title: "Settings (flag or environment variable):"}}),
		kong.Description("Lets people connect AI apps to what they own and run, and stay in charge of it."))
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	common := &kong.Group{Key: "common", Title: "Flags of every command:"}
	for _, f := range parser.Model.Flags {
		if f.Group == nil {
			f.Group = common
		}
	}
	return parser, nil
}

// wordHelp reads "help" before a command as --help after it.
func wordHelp(args []string) []string {
	if len(args) == 0 || args[0] != "help" {
		return args
	}
	return append(slices.Clone(args[1:]), "--help")
}

// keyID is the form of a key id: a thumbprint in base64url, which can begin with a dash (RFC 7638).
var keyID = regexp.MustCompile(`^-[\w-]{42}$`)

// dashedIDs moves ids that look like flags behind the --, where they are not read as such. No flag is that long.
func dashedIDs(args []string) []string {
	var words, ids []string
	for i, arg := range args {
		if arg == "--" {
			return append(append(words, args[i:]...), ids...)
		}
		if keyID.MatchString(arg) {
			ids = append(ids, arg)
		} else {
			words = append(words, arg)
		}
	}
	if len(ids) == 0 {
		return words
	}
	return append(append(words, "--"), ids...)
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
