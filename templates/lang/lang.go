package lang

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// Language is one that pages can be read in.
type Language struct {
	// Tag is the BCP 47 tag ("en", "ar"), Name what the language calls itself, Dir the direction: "ltr" or "rtl".
	Tag, Name, Dir string

	tag     language.Tag
	entries map[string]entry
}

// entry is a translation: one text, or one per plural form.
type entry struct {
	text  string
	forms map[plural.Form]string
}

//go:embed catalog/*.json
var files embed.FS

// languages are all there are, English first.
var languages = load()

var matcher = newMatcher()

// All lists the languages, English first.
func All() []*Language { return slices.Clone(languages) }

// ByTag is the language with the tag, or nil.
func ByTag(tag string) *Language {
	for _, l := range languages {
		if l.Tag == tag {
			return l
		}
	}
	return nil
}

// Match picks the language: the chosen tag where it names one, else the best for an Accept-Language header, else English.
func Match(chosen, accept string) *Language {
	if l := ByTag(chosen); l != nil {
		return l
	}
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(tags) == 0 {
		return languages[0]
	}
	_, i, _ := matcher.Match(tags...)
	return languages[i]
}

type contextKey struct{}

// With is a context whose texts are in the language.
func With(ctx context.Context, l *Language) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// Of is the language of a context; English where none was chosen.
func Of(ctx context.Context) *Language {
	if l, ok := ctx.Value(contextKey{}).(*Language); ok && l != nil {
		return l
	}
	return languages[0]
}

// T is the text in the language of the context. Pairs are names and values: "{name}" in the text becomes the value.
func T(ctx context.Context, text string, pairs ...any) string {
	l := Of(ctx)
	if e, ok := l.entries[text]; ok && e.text != "" {
		return l.fill(e.text, pairs)
	}
	return fill(text, pairs, plain)
}

// N is the text for a count: one is the English text for 1, other the one for any other number and the catalogue's key.
// "{n}" becomes the count.
func N(ctx context.Context, n int, one, other string, pairs ...any) string {
	pairs = append([]any{"n", n}, pairs...)
	l := Of(ctx)
	if e, ok := l.entries[other]; ok && e.forms != nil {
		form := plural.Cardinal.MatchPlural(l.tag, max(n, -n), 0, 0, 0, 0)
		if text, ok := e.forms[form]; ok {
			return l.fill(text, pairs)
		}
		return l.fill(e.forms[plural.Other], pairs)
	}
	if n == 1 {
		return fill(one, pairs, plain)
	}
	return fill(other, pairs, plain)
}

// Text marks a text that is translated later, when it is shown: it returns the text as it is.
func Text(text string) string { return text }

// fill replaces the placeholders of a translation. In a language that is written from right to left every word put in is
// isolated, since it may be written the other way and would carry the words beside it along.
func (l *Language) fill(text string, pairs []any) string {
	if l.Dir == "rtl" {
		return fill(text, pairs, isolated)
	}
	return fill(text, pairs, plain)
}

// fill replaces the placeholders of a text. Values are not looked into again.
func fill(text string, pairs []any, word func(string) string) string {
	if len(pairs) == 0 || !strings.Contains(text, "{") {
		return text
	}
	replace := make([]string, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		replace = append(replace, "{"+fmt.Sprint(pairs[i])+"}", value(pairs[i+1], word))
	}
	return strings.NewReplacer(replace...).Replace(text)
}

func plain(word string) string { return word }

// isolated puts a word between the signs FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE.
func isolated(word string) string {
	if word == "" {
		return ""
	}
	return "\u2068" + word + "\u2069"
}

func value(v any, word func(string) string) string {
	switch v := v.(type) {
	case string:
		return word(v)
	case int:
		return strconv.Itoa(v)
	}
	return word(fmt.Sprint(v))
}

// file is a catalogue as it is written.
type file struct {
	Tag   string                     `json:"tag"`
	Name  string                     `json:"name"`
	Dir   string                     `json:"dir"`
	Texts map[string]json.RawMessage `json:"texts"`
}

func load() []*Language {
	out := []*Language{{Tag: "en", Name: "English", Dir: "ltr", tag: language.English}}
	names, err := fs.Glob(files, "catalog/*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		l, err := read(name)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", path.Base(name), err)) // a broken catalogue is a broken build; a test reads it first
		}
		out = append(out, l)
	}
	return out
}

func read(name string) (*Language, error) {
	b, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	tag, err := language.Parse(f.Tag)
	if err != nil {
		return nil, err
	}
	l := &Language{Tag: f.Tag, Name: f.Name, Dir: f.Dir, tag: tag, entries: make(map[string]entry, len(f.Texts))}
	for key, raw := range f.Texts {
		if l.entries[key], err = readEntry(raw); err != nil {
			return nil, fmt.Errorf("%q: %w", key, err)
		}
	}
	return l, nil
}

var forms = map[string]plural.Form{
	"zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few, "many": plural.Many, "other": plural.Other,
}

func readEntry(raw json.RawMessage) (entry, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return entry{text: text}, nil
	}
	var byName map[string]string
	if err := json.Unmarshal(raw, &byName); err != nil {
		return entry{}, err
	}
	e := entry{forms: make(map[plural.Form]string, len(byName))}
	for name, text := range byName {
		form, ok := forms[name]
		if !ok {
			return entry{}, fmt.Errorf("no plural form is called %q", name)
		}
		e.forms[form] = text
	}
	if e.forms[plural.Other] == "" {
		return entry{}, fmt.Errorf("the form other is missing")
	}
	return e, nil
}

func newMatcher() language.Matcher {
	tags := make([]language.Tag, len(languages))
	for i, l := range languages {
		tags[i] = l.tag
	}
	return language.NewMatcher(tags)
}
