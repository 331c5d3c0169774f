package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/policy"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// Policies is what administrators decide about clients in general; policy.Service is one.
type Policies interface {
	Get(ctx context.Context) (policy.Policy, bool, error)
	Set(ctx context.Context, p policy.Policy) error
	Reset(ctx context.Context) error
	Tokens(ctx context.Context) ([]policy.Token, error)
	CreateToken(ctx context.Context, n policy.NewToken) (*policy.Token, string, error)
	RevokeToken(ctx context.Context, id string) error
}

const (
	adminPoliciesPath    = adminPath + "/policies"
	editPoliciesPath     = adminPoliciesPath + "/edit"
	purposePolicies      = "policies"
	purposeResetPolicies = "reset policies"
)

// modes are the ways of registration, in the order of the form.
var modes = []struct {
	mode          oauth.RegistrationMode
	title, detail string
}{
	{oauth.RegistrationOpen, lang.Text("Every app"), lang.Text("Apps register themselves. People decide what each may do.")},
	{oauth.RegistrationApproval, lang.Text("Every app, after your approval"), lang.Text("An app can register itself; nobody can connect it before you approve it.")},
	{oauth.RegistrationToken, lang.Text("Apps with a registration token"), lang.Text("An app needs a token that you make here.")},
	{oauth.RegistrationOff, lang.Text("No app"), lang.Text("Clients are entered by you, or known by their description.")},
}

func modeWords(ctx context.Context, mode oauth.RegistrationMode) string {
	for _, m := range modes {
		if m.mode == mode {
			return lang.T(ctx, m.title)
		}
	}
	return string(mode)
}

// AdminPolicies shows the policies, the apps that wait, and the registration tokens.
func (h *Handlers) AdminPolicies(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx, v := c.Request().Context(), visitOf(c)
	p, saved, err := h.policies.Get(ctx)
	if err != nil {
		return err
	}
	view := templates.AdminDetailView{
		Admin: h.adminShell(c, lang.T(ctx, "Policies"), adminPoliciesPath), Back: back(ctx, adminPath, lang.Text("Overview")), Facts: policyFacts(ctx, p, saved),
		Links: []templates.LinkView{{Path: editPoliciesPath, Label: lang.T(ctx, "Change the policies")},
			{Path: newRegistrationTokenPath, Label: lang.T(ctx, "Make a registration token")}},
	}
	if err := h.addWaiting(ctx, &view); err != nil {
		return err
	}
	if err := h.addRegistrationTokens(ctx, v, &view); err != nil {
		return err
	}
	if saved {
		view.Actions = []templates.AdminActionView{{ID: "reset", Title: lang.T(ctx, "Reset"),
			Text:   lang.T(ctx, "Forgets what was saved here. The settings that the program was started with hold again."),
			Button: button(v, adminPoliciesPath+"/reset", purposeResetPolicies, lang.T(ctx, "Reset the policies"), "")}}
	}
	return render(c, http.StatusOK, templates.AdminDetail(view))
}

func policyFacts(ctx context.Context, p policy.Policy, saved bool) []templates.AdminFactView {
	source := lang.T(ctx, "The settings that the program was started with")
	if saved {
		source = lang.T(ctx, "Saved here")
	}
	documents, other := lang.T(ctx, "Accepted"), lang.T(ctx, "People are warned")
	if !p.ClientDocuments {
		documents = lang.T(ctx, "Not accepted")
	}
	if p.RefuseOtherHost {
		other = lang.T(ctx, "Refused")
	}
	facts := fact(nil, lang.T(ctx, "Where from"), source)
	facts = fact(facts, lang.T(ctx, "Who may register"), modeWords(ctx, p.Registration))
	facts = fact(facts, lang.T(ctx, "Apps known by their description"), documents)
	facts = fact(facts, lang.T(ctx, "Answers to another host than the app's"), other)
	facts = fact(facts, lang.T(ctx, "Blocked hosts"), p.BlockedHosts...)
	facts = fact(facts, lang.T(ctx, "Only these hosts of descriptions"), p.DocumentHosts...)
	return fact(facts, lang.T(ctx, "Only these hosts of answers"), p.RedirectHosts...)
}

func (h *Handlers) addWaiting(ctx context.Context, view *templates.AdminDetailView) error {
	waiting, err := h.settings.Waiting(ctx)
	if err != nil || len(waiting) == 0 {
		return err
	}
	section := templates.AdminSectionView{ID: "waiting", Title: lang.T(ctx, "Apps that wait for your approval")}
	for _, client := range waiting {
		row := templates.AdminRowView{Title: clientName(ctx, client.Name, client.ID), Badges: []templates.BadgeView{{Text: lang.T(ctx, "Registered itself")}}}
		row.Facts = fact(nil, lang.T(ctx, "Answers go to"), client.RedirectURIs...)
		row.Facts = append(h.timeFact(ctx, row.Facts, lang.T(ctx, "Waits since"), client.PendingAt),
			templates.AdminFactView{Label: lang.T(ctx, "Decide"), Texts: []string{lang.T(ctx, "Open the page of {app}", "app", row.Title)}, Link: templ.SafeURL(clientPath(client.ID))})
		section.Rows = append(section.Rows, row)
	}
	view.Sections = append(view.Sections, section)
	return nil
}

// EditPolicies shows the form of the policies.
func (h *Handlers) EditPolicies(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	p, _, err := h.policies.Get(c.Request().Context())
	if err != nil {
		return err
	}
	return h.showPolicies(c, http.StatusOK, p, "")
}

func (h *Handlers) showPolicies(c echo.Context, status int, p policy.Policy, problem string) error {
	ctx := c.Request().Context()
	return render(c, status, templates.AdminForm(templates.AdminFormView{
		Admin: h.adminShell(c, lang.T(ctx, "Change the policies"), adminPoliciesPath), Back: back(ctx, adminPoliciesPath, lang.Text("Policies")), Problem: problem,
		Lead:   lang.T(ctx, "They hold from the next request, for apps that are connected already too. Clients that you entered yourself are bound by the blocked hosts alone."),
		Action: editPoliciesPath, Token: visitOf(c).formToken(purposePolicies), Submit: lang.T(ctx, "Save"), Groups: policyGroups(ctx, p),
	}))
}

func policyGroups(ctx context.Context, p policy.Policy) []templates.FieldGroupView {
	register := templates.FieldView{Name: "registration"}
	for _, m := range modes {
		register.Choices = append(register.Choices, templates.ChoiceView{Value: string(m.mode), Title: lang.T(ctx, m.title), Detail: lang.T(ctx, m.detail), Ticked: m.mode == p.Registration})
	}
	hosts := func(name, label string, list []string, hint string) templates.FieldView {
		return templates.FieldView{Name: name, Label: label, Lines: true, Value: strings.Join(list, "\n"), Hint: hint}
	}
	return []templates.FieldGroupView{
		{Legend: lang.T(ctx, "Who may register"), Fields: []templates.FieldView{register}},
		{Legend: lang.T(ctx, "Apps known by their description"), Fields: []templates.FieldView{
			{Name: "client_documents", Tick: &templates.ChoiceView{Value: "yes", Title: lang.T(ctx, "Accept apps whose id is the address of their description"),
				Detail: lang.T(ctx, "Claude and ChatGPT among them. Their host is proven."), Ticked: p.ClientDocuments}},
			{Name: "refuse_other_host", Tick: &templates.ChoiceView{Value: "yes", Title: lang.T(ctx, "Refuse answers to another host than that of the description"),
				Detail: lang.T(ctx, "Otherwise people are warned."), Ticked: p.RefuseOtherHost}},
			hosts("document_hosts", lang.T(ctx, "Only these hosts of descriptions"), p.DocumentHosts, lang.T(ctx, "One a line, as in app.example, or *.example for all below it. Empty: every host.")),
		}},
		{Legend: lang.T(ctx, "Hosts"), Fields: []templates.FieldView{
			hosts("blocked_hosts", lang.T(ctx, "Blocked hosts"), p.BlockedHosts, lang.T(ctx, "Apps may neither come from them nor have answers sent there.")),
			hosts("redirect_hosts", lang.T(ctx, "Only these hosts of answers"), p.RedirectHosts, lang.T(ctx, "Empty: every host. Programs on people's own computers are free of it.")),
		}},
	}
}

func parsePolicy(form url.Values) policy.Policy {
	return policy.Policy{
		Registration: oauth.RegistrationMode(form.Get("registration")), ClientDocuments: form.Get("client_documents") == "yes",
		RefuseOtherHost: form.Get("refuse_other_host") == "yes", BlockedHosts: policy.ParseHosts(form.Get("blocked_hosts")),
		DocumentHosts: policy.ParseHosts(form.Get("document_hosts")), RedirectHosts: policy.ParseHosts(form.Get("redirect_hosts")),
	}
}

// SavePolicies saves the policies.
func (h *Handlers) SavePolicies(c echo.Context) error {
	form, _, err := h.readAdminPost(c, purposePolicies, editPoliciesPath)
	if err != nil {
		return err
	}
	ctx, p := c.Request().Context(), parsePolicy(form)
	err = h.policies.Set(ctx, p)
	if problem := policyProblem(ctx, err); problem != "" {
		return h.showPolicies(c, http.StatusUnprocessableEntity, p, problem)
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.PolicyChanged, Detail: p.Facts()})
	return see(c, withDone(adminPoliciesPath, "policies"))
}

// ResetPolicies takes the saved policies back.
func (h *Handlers) ResetPolicies(c echo.Context) error {
	return h.actAsAdmin(c, adminAction{purpose: purposeResetPolicies, page: adminPoliciesPath, done: "policies", entry: audit.Entry{Action: audit.PolicyReset},
		do: func(ctx context.Context, _ *account.Session, _ url.Values) error { return h.policies.Reset(ctx) }})
}
