package mail

import (
	"context"
	"strings"

	"gatehouse/templates/lang"
)

// Letter is a message in words.
type Letter struct {
	To, Subject, Text string
}

// Words are what a letter is made of. Link is empty for notices.
type Words struct {
	Subject string
	Lines   []string
	Link    string
	// After stands below the link.
	After string
}

// Write puts a letter together, in the language of ctx.
func Write(ctx context.Context, to, name string, w Words) *Letter {
	var b strings.Builder
	if name = oneLine(name); name != "" {
		b.WriteString(lang.T(ctx, "Hello {name},", "name", name) + "\n\n")
	}
	for _, l := range w.Lines {
		b.WriteString(l + "\n\n")
	}
	if w.Link != "" {
		b.WriteString(w.Link + "\n\n")
	}
	if w.After != "" {
		b.WriteString(w.After + "\n\n")
	}
	b.WriteString("Gatehouse\n")
	return &Letter{To: to, Subject: oneLine(w.Subject), Text: b.String()}
}

// oneLine keeps names from adding lines or headers.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// In is ctx with the language of a locale.
func In(ctx context.Context, locale string) context.Context {
	return lang.With(ctx, lang.Match(locale, ""))
}
