package lang

import "context"

// List joins words as people do: a, b and c.
func List(ctx context.Context, words []string) string {
	if len(words) == 0 {
		return ""
	}
	last := len(words) - 1
	text := words[0]
	for i, word := range words[1:] {
		if i+1 == last {
			return T(ctx, "{list} and {last}", "list", text, "last", word)
		}
		text = T(ctx, "{list}, {next}", "list", text, "next", word)
	}
	return text
}
