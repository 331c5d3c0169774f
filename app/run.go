package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// Serve runs the server until ctx ends, then stops gracefully. When it is ready it prints one line with its URL to out
// and, with no person in the database, the set-up link.
func Serve(ctx context.Context, cfg Config, version string, out, logTo io.Writer) error {
	if err := cfg.Validate(); err != nil {
		return &UsageError{Message: err.Error()}
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // the live heap is a few MiB, and collecting it fifteen times a second costs more than it saves
	}
	log := NewLogger(logTo, cfg.LogLevel, cfg.LogFormat)
	for _, name := range unknownVariables(os.Environ()) {
		log.Warn("an environment variable is not known and has no effect; gatehouse serve --help lists the settings", "name", name)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("GATEHOUSE_LISTEN: %s is in use: another program listens there, perhaps another gatehouse; stop it or choose another address", cfg.Listen)
	}
	if err != nil {
		return fmt.Errorf("GATEHOUSE_LISTEN: %w", err)
	}
	a, err := New(ctx, cfg, l.Addr().String(), version, log, time.Now)
	if err != nil {
		_ = l.Close()
		return err
	}
	err = a.serve(ctx, l, out)
	return errors.Join(err, a.Close())
}

func (a *App) serve(ctx context.Context, l net.Listener, out io.Writer) error {
	if err := a.announce(ctx, l.Addr().String(), out); err != nil {
		_ = l.Close()
		return err
	}
	jobs, stopJobs := context.WithCancel(context.WithoutCancel(ctx))
	defer stopJobs()
	a.stoppedJobs = make(chan struct{})
	go a.runJobs(jobs)
	stopMail := a.runMail(jobs)
	server := &http.Server{
		Handler: a.echo, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	a.log.Info("stopping: requests under way are finished first")
	a.stopping.Store(true)
	close(a.stop)
	stopJobs()
	<-a.stoppedJobs
	stopMail()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return fmt.Errorf("stop: some requests did not finish in time: %w", err)
	}
	return nil
}

// announce makes the first person where the configuration names one, and prints where the server is.
func (a *App) announce(ctx context.Context, address string, out io.Writer) error {
	if err := a.ensureAdmin(ctx); err != nil {
		return err
	}
	link, err := a.accounts.EnsureSetupLink(ctx)
	if err != nil {
		return err
	}
	if !a.set.oauthOn {
		a.log.Warn("OAuth and personal tokens are off: the public URL is plain http beyond this computer, and tokens would travel readable; set GATEHOUSE_PUBLIC_URL to an https URL",
			"public_url", a.set.publicURL)
	}
	a.announceSignUp(ctx)
	a.log.Info("serving", "address", address, "public_url", a.set.publicURL, "database", a.db.Dialect(), "version", a.version)
	fmt.Fprintf(out, "Gatehouse is ready at %s\n", a.set.publicURL)
	if link != "" {
		fmt.Fprintf(out, "Nobody is here yet. Make the first administrator with this link, once, within 24 hours:\n%s\n", link)
	}
	return nil
}

// ensureAdmin makes the first administrator from GATEHOUSE_ADMIN_EMAIL, when there is nobody yet.
func (a *App) ensureAdmin(ctx context.Context) error {
	if a.set.AdminEmail == "" {
		return nil
	}
	people, err := a.accounts.People(ctx)
	if err != nil || len(people) > 0 {
		return err
	}
	text, err := os.ReadFile(a.set.AdminPasswordFile)
	if err != nil {
		return fmt.Errorf("GATEHOUSE_ADMIN_PASSWORD_FILE: %w", err)
	}
	password, _, _ := strings.Cut(string(text), "\n")
	_, err = a.accounts.AddPerson(ctx, newAdmin(a.set.AdminEmail, strings.TrimRight(password, "\r")))
	if err != nil {
		return fmt.Errorf("first administrator: %w", err)
	}
	return nil
}
