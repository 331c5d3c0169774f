package web

import (
	"context"
	"strings"
	"unicode"

	"gatehouse/templates/lang"
)

// products are parts of User-Agent values and what people call the program. The first match counts, so that the more
// special come first: browsers carry each other's names.
var products = []struct{ part, name string }{
	{"claude-code", "Claude Code"}, {"Claude-User", "Claude"}, {"ClaudeAI", "Claude"}, {"Anthropic", "Claude"},
	{"codex", "Codex"}, {"openai", "ChatGPT"}, {"Cursor", "Cursor"}, {"Visual Studio Code", "VS Code"}, {"VSCode", "VS Code"},
	{"Goose", "Goose"}, {"GeminiCLI", "Gemini CLI"}, {"LibreChat", "LibreChat"}, {"Bun/", lang.Text("A program on Bun")}, {"node", lang.Text("A program on Node.js")},
	{"Go-http-client", lang.Text("A Go program")}, {"python-httpx", lang.Text("A Python program")}, {"curl/", "curl"},
	{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"CriOS/", "Chrome"}, {"Safari/", "Safari"},
}

var systems = []struct{ part, name string }{
	{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Macintosh", "macOS"}, {"Linux", "Linux"},
}

// deviceName is what a User-Agent says of itself in a few words: a hint for the person, no proof of anything.
func deviceName(ctx context.Context, agent string) string {
	product := ""
	for _, p := range products {
		if strings.Contains(agent, p.part) {
			product = lang.T(ctx, p.name)
			break
		}
	}
	if product == "" {
		first, _, _ := strings.Cut(agent, " ")
		product = cleanWord(first)
	}
	if product == "" {
		product = lang.T(ctx, "Unknown program")
	}
	for _, s := range systems {
		if strings.Contains(agent, s.part) {
			return lang.T(ctx, "{program} on {system}", "program", product, "system", s.name)
		}
	}
	return product
}

func cleanWord(s string) string {
	s = strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 60)]
}

// deviceWords says a name that was kept in English, as deviceName made it.
func deviceWords(ctx context.Context, kept string) string {
	if program, system, found := strings.Cut(kept, " on "); found {
		return lang.T(ctx, "{program} on {system}", "program", lang.T(ctx, program), "system", system)
	}
	return lang.T(ctx, kept)
}
