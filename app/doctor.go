package app

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"gatehouse/app/doctor"
)

// DoctorReport is a walk of an app's way to a server.
type DoctorReport = doctor.Report

// DoctorOptions say what to walk.
type DoctorOptions struct {
	// URL is the server to look at; the configured public URL when it is empty.
	URL string
	// As is claude, chatgpt, codex or all.
	As string
	// Token, when set, is a personal or access token to try the endpoint with.
	Token    string
	Register bool
	Version  string
}

// Doctor walks the way of AI apps to a server from outside and says what would fail. It needs no database, so that it
// also works from another computer.
func Doctor(ctx context.Context, cfg Config, o DoctorOptions) (*DoctorReport, error) {
	if o.URL == "" {
		set, err := cfg.check("")
		if err != nil {
			return nil, &UsageError{Message: err.Error()}
		}
		o.URL = set.publicURL
	}
	report, err := doctor.Run(ctx, doctor.Options{
		URL: o.URL, As: o.As, Token: o.Token, Register: o.Register, Version: o.Version, Now: time.Now, Rand: rand.Reader,
	})
	if errors.Is(err, doctor.ErrURL) {
		return nil, &UsageError{Message: err.Error()}
	}
	return report, err
}
