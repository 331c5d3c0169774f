package app

import (
	"context"
	"time"
)

// job is work that comes round: of all processes on one database one does it.
type job struct {
	name  string
	every time.Duration
	run   func(ctx context.Context) error
}

func (a *App) jobs() []job {
	return []job{
		{"sweep", 10 * time.Minute, a.sweep},
		{"deletions", time.Minute, a.deleteDue},
		{"keys", 10 * time.Minute, a.maintainKeys},
	}
}

// sweep deletes what has expired.
func (a *App) sweep(ctx context.Context) error {
	if err := a.accounts.Sweep(ctx); err != nil {
		return err
	}
	if err := a.upstream.Sweep(ctx); err != nil {
		return err
	}
	if err := a.db.SweepInvitations(ctx, a.now()); err != nil {
		return err
	}
	if err := a.db.SweepWindows(ctx, a.now()); err != nil {
		return err
	}
	if _, err := a.handshakes.Sweep(ctx); err != nil {
		return err
	}
	if _, err := a.audit.Sweep(ctx); err != nil {
		return err
	}
	_, err := a.db.SweepOAuth(ctx, a.now())
	return err
}

// maintainKeys rotates signing keys when their time has come.
func (a *App) maintainKeys(ctx context.Context) error { return a.oauth.MaintainKeys(ctx) }

// runJobs runs the jobs that are due until ctx ends.
func (a *App) runJobs(ctx context.Context) {
	defer close(a.stoppedJobs)
	tick := time.NewTicker(jobInterval)
	defer tick.Stop()
	for {
		for _, j := range a.jobs() {
			if _, err := a.db.RunLeased(ctx, j.name, j.every, j.run); err != nil && ctx.Err() == nil {
				a.log.Error("job failed; it is tried again", "job", j.name, "cause", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
