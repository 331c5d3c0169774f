package web

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"gatehouse/app/connection"
	"gatehouse/app/toolgrant"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// The titles of the tools, so that they can be translated. A tool that is missing here is shown in English.
var _ = []string{
	lang.Text("What I can do"), lang.Text("Locations"), lang.Text("Search things"), lang.Text("Where is it"), lang.Text("One thing"),
	lang.Text("What is inside"), lang.Text("Add things"), lang.Text("Edit a thing"), lang.Text("Move a thing"), lang.Text("Add a place"),
}

// toolChoice is what a page shows of tools and what its form sent back.
type toolChoice struct {
	catalog toolgrant.Catalog
	// base is what the tools are chosen under: what the app asks for, or what the person had settled before.
	base *toolgrant.Grant
	// hidden are the tools that were unticked before.
	hidden []string
	// asked says that the app asks for these tools alone.
	asked bool
	// kept says that the request is not about tools, so that all stays as it is.
	kept bool
	// had is what the connection has now; nil for none.
	had *connection.Connection
}

// consentTools gives the choice of the consent page. What a person settled before holds on when the app asks for nothing
// of the kind: signing in anew must not lift a limit that they set.
func (h *Handlers) consentTools(p *oauth.Prompt, existing *connection.Connection) (*toolChoice, error) {
	t := &toolChoice{catalog: h.tools(p.Resource.URI), had: existing}
	asked, err := toolgrant.FromDetails(p.Details)
	if err != nil {
		return nil, err
	}
	if asked != nil {
		t.base, t.asked = asked, true
		return t, nil
	}
	if existing != nil {
		t.base, t.hidden = existing.Tools.Explicit(t.catalog), existing.HiddenTools
	}
	t.kept = p.GrantAction == oauth.GrantMerge
	return t, nil
}

// editTools gives the choice of the page that edits a connection.
func (h *Handlers) editTools(existing *connection.Connection) *toolChoice {
	catalog := h.tools(existing.Resource)
	return &toolChoice{catalog: catalog, base: existing.Tools.Explicit(catalog), hidden: existing.HiddenTools, had: existing}
}

// shown are the tools that the page shows: all, or those that the app asks for.
func (t *toolChoice) shown() toolgrant.Catalog {
	var out toolgrant.Catalog
	for _, tool := range t.catalog {
		if !t.asked || t.base.Allows(tool.Name, tool.Write) {
			out = append(out, tool)
		}
	}
	return out
}

// ticked reports whether a tool is ticked before anybody touches the page.
func (t *toolChoice) ticked(tool *toolgrant.Tool) bool {
	return t.base.Allows(tool.Name, tool.Write) && !slices.Contains(t.hidden, tool.Name)
}

// has reports whether the connection may call the tool now, as far as tools go.
func has(c *connection.Connection, tool *toolgrant.Tool) bool {
	return c.Tools.Allows(tool.Name, tool.Write) && !slices.Contains(c.HiddenTools, tool.Name)
}

// choices puts the tools into words.
func (t *toolChoice) choices(ctx context.Context) []templates.ChoiceView {
	if t.kept {
		return nil
	}
	var out []templates.ChoiceView
	shown := t.shown()
	for i := range shown {
		tool := &shown[i]
		choice := templates.ChoiceView{
			Value: tool.Name, Title: lang.T(ctx, tool.Title), Ticked: t.ticked(tool), Detail: toolDetail(ctx, tool, t.base),
		}
		if t.had != nil && !has(t.had, tool) {
			choice.Mark, choice.Fresh = lang.T(ctx, "new"), true
		}
		out = append(out, choice)
	}
	return out
}

// toolDetail says what the tool does to things and how it is limited.
func toolDetail(ctx context.Context, tool *toolgrant.Tool, g *toolgrant.Grant) string {
	text := lang.T(ctx, "Looks only.")
	if tool.Write {
		text = lang.T(ctx, "Changes things.")
	}
	if g != nil {
		for _, argument := range sortedNames(g.Limits[tool.Name]) {
			text += " " + limitWords(ctx, argument, g.Limits[tool.Name][argument])
		}
	}
	return text
}

func sortedNames(rules map[string]toolgrant.Rule) []string {
	var names []string
	for name := range rules {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func limitWords(ctx context.Context, argument string, r toolgrant.Rule) string {
	if r.Maximum != nil {
		return lang.T(ctx, "Only with {argument} up to {number}.", "argument", argument, "number", r.Text())
	}
	return lang.T(ctx, "Only with {argument} as one of: {values}.", "argument", argument, "values", r.Text())
}

// toolForm is what a form said of tools. A form without the page's mark said nothing.
type toolForm struct {
	shown  bool
	ticked []string
}

func parseTools(form url.Values) toolForm {
	return toolForm{shown: form.Get("tools") == "chosen", ticked: form["tool"]}
}

// outcome is what the ticks amount to: the tools to hide, and the grant. limits replaces the limits of the base.
func (t *toolChoice) outcome(f toolForm, limits map[string]map[string]toolgrant.Rule) (hidden []string, g *toolgrant.Grant) {
	if t.kept {
		return t.hidden, t.base
	}
	var ticked []string
	shown := t.shown()
	for _, name := range t.hidden { // what the page does not show stays hidden
		if _, there := shown.Tool(name); !there {
			hidden = append(hidden, name)
		}
	}
	for i := range shown {
		tool := &shown[i]
		if f.shown && slices.Contains(f.ticked, tool.Name) || !f.shown && t.ticked(tool) {
			ticked = append(ticked, tool.Name)
		} else {
			hidden = append(hidden, tool.Name)
		}
	}
	g = t.base.Choose(ticked, limits)
	if t.base != nil && t.base.Listed {
		hidden = nil // the list says it
	}
	return hidden, g
}

func (t *toolChoice) limits() map[string]map[string]toolgrant.Rule {
	if t.base == nil {
		return nil
	}
	return t.base.Limits
}

// approvedTools makes terms and details of the ticks of a consent page, or says what is wrong with them.
func (h *Handlers) approvedTools(c *oauth.Prompt, t *toolChoice, f toolForm) (hidden []string, details json.RawMessage, err error) {
	hidden, g := t.outcome(f, t.limits())
	if c.GrantAction == oauth.GrantMerge && t.asked && t.had != nil {
		hidden = slices.DeleteFunc(slices.Clone(t.had.HiddenTools), func(name string) bool { return slices.Contains(f.ticked, name) })
		g = toolgrant.Join(t.had.Tools, g, t.catalog)
	}
	if err := h.connections.CheckTools(c.Resource.URI, hidden, g); err != nil {
		return nil, nil, err
	}
	details, err = g.Details(c.Resource.URI)
	return hidden, details, err
}

// toolSummary says how many tools a connection may use; empty when there is nothing to say.
func (h *Handlers) toolSummary(ctx context.Context, c *connection.Connection) (summary string, limits []string) {
	catalog := h.tools(c.Resource)
	n := 0
	for i := range catalog {
		if has(c, &catalog[i]) {
			n++
		}
	}
	if n < len(catalog) {
		summary = lang.T(ctx, "{n} of {all} tools", "n", n, "all", len(catalog))
	}
	for _, l := range limitViews(ctx, catalog, c.Tools) {
		limits = append(limits, l.Title+": "+l.Detail)
	}
	return summary, limits
}

// limitViews lists the limits of a grant as boxes that are ticked while the limit stays.
func limitViews(ctx context.Context, catalog toolgrant.Catalog, g *toolgrant.Grant) []templates.ChoiceView {
	var out []templates.ChoiceView
	if g == nil {
		return nil
	}
	for _, tool := range catalog {
		for _, argument := range sortedNames(g.Limits[tool.Name]) {
			out = append(out, templates.ChoiceView{
				Value: tool.Name + " " + argument, Title: lang.T(ctx, tool.Title), Ticked: true,
				Detail: limitWords(ctx, argument, g.Limits[tool.Name][argument]),
			})
		}
	}
	return out
}

// limitTargets lists what a new limit can bind.
func limitTargets(ctx context.Context, catalog toolgrant.Catalog) []templates.OptionView {
	var out []templates.OptionView
	for _, tool := range catalog {
		for _, a := range tool.Arguments {
			out = append(out, templates.OptionView{Value: tool.Name + " " + a.Name, Label: lang.T(ctx, tool.Title) + ": " + a.Name})
		}
	}
	return out
}

// limitForm is a form's limits, read once: those that stay, and one that is added.
type limitForm struct {
	keep               []string
	target, kind, text string
}

func parseLimits(form url.Values) limitForm {
	return limitForm{
		keep: form["limit"], target: form.Get("limit_for"), kind: form.Get("limit_kind"), text: strings.TrimSpace(form.Get("limit_value")),
	}
}

// limitsOf gives the limits after a form. A new one takes the place of an old one of the same argument.
func limitsOf(t *toolChoice, f limitForm) (map[string]map[string]toolgrant.Rule, error) {
	out := map[string]map[string]toolgrant.Rule{}
	set := func(tool, argument string, r toolgrant.Rule) {
		if out[tool] == nil {
			out[tool] = map[string]toolgrant.Rule{}
		}
		out[tool][argument] = r
	}
	for tool, rules := range t.limits() {
		for argument, rule := range rules {
			if slices.Contains(f.keep, tool+" "+argument) {
				set(tool, argument, rule)
			}
		}
	}
	if f.target == "" && f.text == "" {
		return out, nil
	}
	name, argument, _ := strings.Cut(f.target, " ")
	tool, known := t.catalog.Tool(name)
	if !known {
		return nil, &connection.Invalid{Field: "limit_for", Message: noLimitTarget}
	}
	for _, a := range tool.Arguments {
		if a.Name != argument {
			continue
		}
		rule, err := toolgrant.ReadRule(a, f.kind == "maximum", f.text)
		if err != nil {
			return nil, &connection.Invalid{Field: "limit_value", Message: noLimitValue}
		}
		set(name, argument, rule)
		return out, nil
	}
	return nil, &connection.Invalid{Field: "limit_for", Message: noLimitTarget}
}

var (
	noLimitTarget = lang.Text("Choose what the limit is for.")
	noLimitValue  = lang.Text("Write the values of the limit, with commas between them, or one number for a maximum. Only numbers have a maximum.")
)
