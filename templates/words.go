package templates

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"gatehouse/templates/lang"
)

// passkeyCall is which of the browser's functions the script calls.
func passkeyCall(create bool) string {
	if create {
		return "create"
	}
	return "get"
}

func connectionCount(ctx context.Context, n int) string {
	if n == 0 {
		return lang.T(ctx, "No app is connected.")
	}
	return lang.N(ctx, n, "One app is connected.", "{n} apps are connected.")
}

// list joins words as people do: a, b and c.
func list(ctx context.Context, words []string) string {
	return lang.List(ctx, words)
}

func installationCount(ctx context.Context, n int) string {
	return lang.N(ctx, n, "1 installation", "{n} installations")
}

func stepCount(ctx context.Context, n int) string { return lang.N(ctx, n, "1 step", "{n} steps") }

func fieldCount(ctx context.Context, n int) string { return lang.N(ctx, n, "1 field", "{n} fields") }

// slots are the parts of a sentence that are markup, by the names of their placeholders.
type slots map[string]templ.Component

// with shows a text whose placeholders are markup, so that a translation can put them elsewhere in the sentence. A
// placeholder without a slot stays as it is.
func with(text string, parts slots) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for rest := text; rest != ""; {
			before, name, after := nextSlot(rest, parts)
			if _, err := io.WriteString(w, templ.EscapeString(before)); err != nil {
				return err
			}
			if name == "" {
				return nil
			}
			if err := parts[name].Render(ctx, w); err != nil {
				return err
			}
			rest = after
		}
		return nil
	})
}

// nextSlot cuts a text at its first placeholder that has a slot.
func nextSlot(text string, parts slots) (before, name, after string) {
	for from := 0; ; {
		open := strings.IndexByte(text[from:], '{')
		if open < 0 {
			return text, "", ""
		}
		open += from
		end := strings.IndexByte(text[open:], '}')
		if end < 0 {
			return text, "", ""
		}
		if key := text[open+1 : open+end]; parts[key] != nil {
			return text[:open], key, text[open+end+1:]
		}
		from = open + 1
	}
}
