package main

import (
	"errors"
	"fmt"
	"io"

	"gatehouse/app"
)

type doctorCmd struct {
	URL      string `arg:"" optional:"" name:"url" help:"Server or MCP endpoint to look at. Default: the configured public URL."`
	As       string `enum:"claude,chatgpt,codex,all" default:"all" help:"Which app to play: claude, chatgpt, codex (with Claude Code) or all."`
	Token    string `env:"GATEHOUSE_DOCTOR_TOKEN" help:"Personal or access token to try the endpoint with."`
	Register bool   `default:"true" negatable:"" help:"Register throw-away clients, as apps do."`
}

// Run walks the way of AI apps to a server and fails when one of them would.
func (c doctorCmd) Run(e *env) error {
	report, err := app.Doctor(e.ctx, e.cfg, app.DoctorOptions{
		URL: c.URL, As: c.As, Token: c.Token, Register: c.Register, Version: versionText(),
	})
	if err != nil {
		return err
	}
	if err := e.print(report, func(w io.Writer) { printReport(w, report) }); err != nil {
		return err
	}
	if report.Failed > 0 {
		return errors.New(count(report.Failed, "step", "steps") + " would fail")
	}
	return nil
}

var marks = map[string]string{"ok": "✓", "note": "–", "warning": "!", "failed": "✗"}

// printReport writes a line per step, and below a fault what was seen and, once for each, how to mend it.
func printReport(w io.Writer, r *app.DoctorReport) {
	fmt.Fprintln(w, app.PlainText(r.URL))
	said := map[string]bool{}
	for _, section := range r.Sections {
		fmt.Fprintf(w, "\n%s\n", section.Title)
		for _, s := range section.Steps {
			fmt.Fprintf(w, "%s %s", marks[string(s.Status)], app.PlainText(s.Title))
			if s.Finding == "" && s.Detail != "" {
				fmt.Fprintf(w, ": %s", app.PlainText(s.Detail))
			}
			fmt.Fprintln(w)
			if s.Finding != "" {
				fmt.Fprintf(w, "    %s (%s/%s)\n", app.PlainText(s.Detail), s.Check, s.Finding)
			}
			if s.Mend != "" && !said[s.Mend] {
				fmt.Fprintf(w, "    → %s\n", app.PlainText(s.Mend))
				said[s.Mend] = true
			}
		}
	}
	fmt.Fprintf(w, "\n%s, %s.\n", verdict(r.Failed), count(r.Warnings, "warning", "warnings"))
}

func verdict(failed int) string {
	if failed == 0 {
		return "Nothing would fail"
	}
	return count(failed, "step", "steps") + " would fail"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
