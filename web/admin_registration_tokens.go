package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/app/policy"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	newRegistrationTokenPath = adminPoliciesPath + "/tokens/new"
	purposeNewRegistration   = "new registration token"
)

func purposeRevokeRegistration(id string) string { return "revoke registration token " + id }

// policyProblems are the refusals of package policy, for people.
var policyProblems = map[string]string{
	policy.BadMode:  lang.Text("Choose who may register."),
	policy.BadHost:  lang.Text("This is not a host name such as app.example or *.example: {value}"),
	policy.ManyHost: lang.Text("The list holds more than 500 hosts."),
	policy.BadName:  lang.Text("Give the token a name of at most 100 characters."),
	policy.BadUses:  lang.Text("The number of apps must be between 1 and 1000000, or empty."),
	policy.BadLife:  lang.Text("Choose for how long the token can be used."),
}

// policyProblem puts a refusal into words; "" for every other error.
func policyProblem(ctx context.Context, err error) string {
	var invalid *policy.Invalid
	if !errors.As(err, &invalid) {
		return ""
	}
	return lang.T(ctx, policyProblems[invalid.Message], "value", invalid.Value)
}

// tokenLives are the ends of a registration token that can be chosen; the first is the default.
var tokenLives = []struct {
	value, title string
	life         time.Duration
}{
	{"1d", lang.Text("1 day"), 24 * time.Hour},
	{"30d", lang.Text("30 days"), 30 * 24 * time.Hour},
	{"forever", lang.Text("Until I revoke it"), 0},
}

// registrationTokenForm is the form, read once.
type registrationTokenForm struct{ name, uses, life string }

func parseRegistrationToken(form url.Values) registrationTokenForm {
	return registrationTokenForm{name: form.Get("name"), uses: strings.TrimSpace(form.Get("uses")), life: form.Get("life")}
}

// entry is the token to make. What is not a number or a choice becomes a value that is refused.
func (f registrationTokenForm) entry() policy.NewToken {
	n := policy.NewToken{Name: f.name, Life: -1}
	if f.uses != "" {
		var err error
		if n.MaxUses, err = strconv.Atoi(f.uses); err != nil || n.MaxUses < 1 {
			n.MaxUses = -1
		}
	}
	for _, l := range tokenLives {
		if l.value == f.life {
			n.Life = l.life
		}
	}
	return n
}

// NewRegistrationToken shows the form of a new registration token.
func (h *Handlers) NewRegistrationToken(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	return h.showRegistrationToken(c, http.StatusOK, registrationTokenForm{life: tokenLives[0].value}, "")
}

func (h *Handlers) showRegistrationToken(c echo.Context, status int, f registrationTokenForm, problem string) error {
	ctx := c.Request().Context()
	life := templates.FieldView{Name: "life"}
	for _, l := range tokenLives {
		life.Choices = append(life.Choices, templates.ChoiceView{Value: l.value, Title: lang.T(ctx, l.title), Ticked: l.value == f.life})
	}
	return render(c, status, templates.AdminForm(templates.AdminFormView{
		Admin: h.adminShell(c, lang.T(ctx, "Make a registration token"), adminPoliciesPath), Back: back(ctx, adminPoliciesPath, lang.Text("Policies")), Problem: problem,
		Lead:   lang.T(ctx, "With it an app can register itself while the policies ask for a token. It is shown once."),
		Action: newRegistrationTokenPath, Token: visitOf(c).formToken(purposeNewRegistration), Submit: lang.T(ctx, "Make it"),
		Groups: []templates.FieldGroupView{
			{Legend: lang.T(ctx, "Token"), Fields: []templates.FieldView{
				{Name: "name", Label: lang.T(ctx, "Name"), Type: "text", Value: f.name, Required: true, Hint: lang.T(ctx, "Who or what it is for.")},
				{Name: "uses", Label: lang.T(ctx, "Number of apps"), Type: "text", Value: f.uses, Hint: lang.T(ctx, "How many apps may register with it. Empty: any number.")},
			}},
			{Legend: lang.T(ctx, "For how long"), Fields: []templates.FieldView{life}},
		},
	}))
}

// AddRegistrationToken makes a registration token and shows it once.
func (h *Handlers) AddRegistrationToken(c echo.Context) error {
	values, _, err := h.readAdminPost(c, purposeNewRegistration, newRegistrationTokenPath)
	if err != nil {
		return err
	}
	ctx, f := c.Request().Context(), parseRegistrationToken(values)
	t, secret, err := h.policies.CreateToken(ctx, f.entry())
	if problem := policyProblem(ctx, err); problem != "" {
		return h.showRegistrationToken(c, http.StatusUnprocessableEntity, f, problem)
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.RegistrationTokenAdded, Detail: map[string]string{"name": t.Name}})
	return h.showOnce(c, shownOnce{Kind: onceRegister, Name: t.Name, ID: t.ID, Secret: secret})
}

// RevokeRegistrationToken ends a registration token.
func (h *Handlers) RevokeRegistrationToken(c echo.Context) error {
	id := c.Param("token")
	if _, _, err := h.readAdminPost(c, purposeRevokeRegistration(id), adminPoliciesPath); err != nil {
		return err
	}
	err := h.policies.RevokeToken(c.Request().Context(), id)
	if errors.Is(err, policy.ErrNone) {
		return notFoundPage()
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.RegistrationTokenRevoked, Detail: map[string]string{"token": id}})
	return see(c, withDone(adminPoliciesPath, "revoked"))
}

func (h *Handlers) addRegistrationTokens(ctx context.Context, v *visit, view *templates.AdminDetailView) error {
	tokens, err := h.policies.Tokens(ctx)
	if err != nil || len(tokens) == 0 {
		return err
	}
	section := templates.AdminSectionView{ID: "tokens", Title: lang.T(ctx, "Registration tokens")}
	for i := range tokens {
		section.Rows = append(section.Rows, h.registrationTokenRow(ctx, v, &tokens[i]))
	}
	view.Sections = append(view.Sections, section)
	return nil
}

func (h *Handlers) registrationTokenRow(ctx context.Context, v *visit, t *policy.Token) templates.AdminRowView {
	row := templates.AdminRowView{Title: t.Name, Badges: []templates.BadgeView{{Text: lang.T(ctx, "Usable"), Tone: "good"}}}
	if !t.Usable(h.now()) {
		row.Badges[0] = templates.BadgeView{Text: lang.T(ctx, "Over")}
	}
	uses := lang.N(ctx, t.Uses, "1 app registered", "{n} apps registered")
	if t.MaxUses > 0 {
		uses = lang.N(ctx, t.MaxUses, "{used} of 1 app", "{used} of {n} apps", "used", t.Uses)
	}
	row.Facts = fact(nil, lang.T(ctx, "Used by"), uses)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Made"), &t.CreatedAt)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Last used"), t.LastUsedAt)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Ends"), t.ExpiresAt)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Revoked"), t.RevokedAt)
	if t.RevokedAt == nil {
		row.Buttons = []templates.ButtonView{dangerButton(v, adminPoliciesPath+"/tokens/"+t.ID+"/revoke", purposeRevokeRegistration(t.ID), lang.T(ctx, "Revoke"), t.Name)}
	}
	return row
}
