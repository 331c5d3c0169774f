package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// catalogue is the file of one language. A text is a string, or an object with one string per plural form.
type catalogue struct {
	Tag   string         `json:"tag"`
	Name  string         `json:"name"`
	Dir   string         `json:"dir"`
	Texts map[string]any `json:"texts"`
}

func readCatalogue(file string) (*catalogue, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var c catalogue
	err = json.Unmarshal(b, &c)
	return &c, err
}

// save writes the catalogue with its texts in order.
func (c *catalogue) save(file string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(c); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// complete adds the texts that are missing, empty, and takes out those that are used nowhere.
func (c *catalogue) complete(uses map[string]use) *catalogue {
	maps.DeleteFunc(c.Texts, func(text string, _ any) bool { _, used := uses[text]; return !used })
	for text, u := range uses {
		if _, ok := c.Texts[text]; ok {
			continue
		}
		c.Texts[text] = ""
		if u.one != "" {
			forms := map[string]any{}
			for _, f := range c.forms() {
				forms[f] = ""
			}
			c.Texts[text] = forms
		}
	}
	return c
}

// problems are what is to do, in order.
func (c *catalogue) problems(uses map[string]use) []string {
	var out []string
	for text, u := range uses {
		for _, p := range c.check(u) {
			out = append(out, fmt.Sprintf("%q %s (%s)", text, p, u.at))
		}
	}
	for text := range c.Texts {
		if _, ok := uses[text]; !ok {
			out = append(out, fmt.Sprintf("%q is used nowhere", text))
		}
	}
	slices.Sort(out)
	return out
}

func (c *catalogue) check(u use) []string {
	switch t := c.Texts[u.text].(type) {
	case string:
		switch {
		case t == "":
			return []string{"has no translation"}
		case u.one != "":
			return []string{"is for counts and needs the forms " + strings.Join(c.forms(), ", ")}
		case !slices.Equal(placeholders(t), placeholders(u.text)):
			return []string{fmt.Sprintf("has the placeholders %v, its translation %v", placeholders(u.text), placeholders(t))}
		}
		return nil
	case map[string]any:
		if u.one == "" {
			return []string{"is not for counts and needs one text"}
		}
		return c.checkForms(u, t)
	}
	return []string{"has no translation"}
}

// checkForms: every form is there and has the placeholders, of which a form for one certain number may leave {n} out.
func (c *catalogue) checkForms(u use, forms map[string]any) []string {
	var out []string
	for _, f := range c.forms() {
		t, _ := forms[f].(string)
		want, got := placeholders(u.text), placeholders(t)
		exact := f == "zero" || f == "one" || f == "two"
		switch {
		case t == "":
			out = append(out, "has no translation for the form "+f)
		case !slices.Equal(want, got) && !(exact && slices.Equal(without(want, "n"), got)):
			out = append(out, fmt.Sprintf("has the placeholders %v, its form %s %v", want, f, got))
		}
	}
	for f := range forms {
		if !slices.Contains(c.forms(), f) {
			out = append(out, "has a form "+f+", which the language does not have")
		}
	}
	return out
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// placeholders are the names of a text's placeholders, each once, in order.
func placeholders(text string) []string {
	var out []string
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var formNames = map[plural.Form]string{
	plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
}

// forms are the plural forms that the language has for whole numbers.
func (c *catalogue) forms() []string {
	tag := language.Make(c.Tag)
	var out []string
	for n := range 200 {
		if f := formNames[plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0)]; !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
