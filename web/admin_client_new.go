package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	newClientPath    = adminClientsPath + "/new"
	purposeNewClient = "new client"
)

func countText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// newClientForm is the form that enters a client, read once.
type newClientForm struct {
	client connection.NewClient
	// proof is how the client proves itself: "none", "secret", "jwks_uri" or "jwks".
	proof, keys string
}

func parseNewClient(form url.Values) newClientForm {
	text := func(name string) string { return strings.TrimSpace(form.Get(name)) }
	f := newClientForm{proof: text("proof"), keys: text("jwks"), client: connection.NewClient{
		Name: text("name"), RedirectURIs: strings.Fields(form.Get("redirect_uris")), RequirePushed: form.Get("require_pushed") == "yes",
		DPoPBound: form.Get("dpop_bound") == "yes", ApplicationType: text("application_type"), ClientURI: text("client_uri"),
		TOSURI: text("tos_uri"), PolicyURI: text("policy_uri"), SoftwareID: text("software_id"), SoftwareVersion: text("software_version"),
		Scope: strings.Join(strings.Fields(form.Get("scope")), " "), Contacts: lines(form.Get("contacts")), JWKSURI: text("jwks_uri"),
	}}
	f.client.Confidential = f.proof == "secret"
	return f
}

func lines(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// entry is the client as it is entered: the keys belong to the chosen proof alone.
func (f *newClientForm) entry(ctx context.Context) (connection.NewClient, string) {
	n := f.client
	switch f.proof {
	case "jwks_uri":
		if n.JWKSURI == "" {
			return n, lang.T(ctx, "Say at which address the client publishes its keys.")
		}
	case "jwks":
		n.JWKSURI = ""
		if !json.Valid([]byte(f.keys)) {
			return n, lang.T(ctx, "The keys must be a JWK Set: JSON with a member keys.")
		}
		n.JWKS = json.RawMessage(f.keys)
	default:
		n.JWKSURI = ""
	}
	return n, ""
}

// NewClient shows the form that enters a client.
func (h *Handlers) NewClient(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	if _, err := h.requireFresh(c, newClientPath); err != nil {
		return err // now, and not after everything was entered
	}
	return h.showNewClient(c, http.StatusOK, newClientForm{proof: "none"}, "")
}

func (h *Handlers) showNewClient(c echo.Context, status int, f newClientForm, problem string) error {
	ctx := c.Request().Context()
	return render(c, status, templates.AdminForm(templates.AdminFormView{
		Admin: h.adminShell(c, lang.T(ctx, "Enter a client"), adminClientsPath), Back: back(ctx, adminClientsPath, "Clients"), Problem: problem,
		Lead:   lang.T(ctx, "For an app that neither registers itself nor has a description, or that you want to vouch for. People see it as entered by you."),
		Action: newClientPath, Token: visitOf(c).formToken(purposeNewClient), Submit: lang.T(ctx, "Enter"), Groups: newClientGroups(ctx, &f),
	}))
}

func newClientGroups(ctx context.Context, f *newClientForm) []templates.FieldGroupView {
	n := &f.client
	field := func(name, label, value, hint string) templates.FieldView {
		return templates.FieldView{Name: name, Label: label, Value: value, Hint: hint, Type: "text"}
	}
	name := field("name", lang.T(ctx, "Name"), n.Name, lang.T(ctx, "What people see when it asks to connect."))
	redirects := field("redirect_uris", lang.T(ctx, "Redirect URIs"), strings.Join(n.RedirectURIs, "\n"), lang.T(ctx, "Where answers may go, one a line. Exactly as the app sends them; the port of an address on this computer may differ."))
	name.Required, redirects.Required, redirects.Lines = true, true, true
	keys := field("jwks", lang.T(ctx, "Public keys"), f.keys, lang.T(ctx, "A JWK Set with public keys alone, when they are entered here."))
	keys.Lines = true
	contacts := field("contacts", lang.T(ctx, "Contacts"), strings.Join(n.Contacts, "\n"), lang.T(ctx, "One a line."))
	contacts.Lines = true
	return []templates.FieldGroupView{
		{Legend: lang.T(ctx, "App"), Fields: []templates.FieldView{name, redirects}},
		{Legend: lang.T(ctx, "How it proves itself"), Fields: []templates.FieldView{
			{Name: "proof", Choices: []templates.ChoiceView{
				{Value: "none", Title: lang.T(ctx, "Not at all (public)"), Detail: lang.T(ctx, "Programs on people's own devices."), Ticked: f.proof == "none"},
				{Value: "secret", Title: lang.T(ctx, "By a secret"), Detail: lang.T(ctx, "The secret is made here and shown once."), Ticked: f.proof == "secret"},
				{Value: "jwks_uri", Title: lang.T(ctx, "By keys that it publishes"), Detail: "private_key_jwt", Ticked: f.proof == "jwks_uri"},
				{Value: "jwks", Title: lang.T(ctx, "By keys entered here"), Detail: "private_key_jwt", Ticked: f.proof == "jwks"},
			}},
			field("jwks_uri", lang.T(ctx, "Address of its keys"), n.JWKSURI, lang.T(ctx, "An https address, when it publishes its keys.")), keys,
		}},
		{Legend: lang.T(ctx, "Rules"), Fields: []templates.FieldView{
			{Name: "require_pushed", Tick: &templates.ChoiceView{Value: "yes", Title: lang.T(ctx, "It must push its authorization requests"), Detail: "PAR, RFC 9126", Ticked: n.RequirePushed}},
			{Name: "dpop_bound", Tick: &templates.ChoiceView{Value: "yes", Title: lang.T(ctx, "Its tokens are always bound to its key"), Detail: "DPoP, RFC 9449", Ticked: n.DPoPBound}},
			{Name: "application_type", Choices: []templates.ChoiceView{
				{Value: "", Title: lang.T(ctx, "Judge by the redirect URIs"), Ticked: n.ApplicationType == ""},
				{Value: "web", Title: lang.T(ctx, "A web application"), Ticked: n.ApplicationType == "web"},
				{Value: "native", Title: lang.T(ctx, "A program on a device"), Ticked: n.ApplicationType == "native"},
			}},
		}},
		{Legend: lang.T(ctx, "More about it (optional)"), Fields: []templates.FieldView{
			field("client_uri", lang.T(ctx, "Home page"), n.ClientURI, "https://…"), field("tos_uri", lang.T(ctx, "Terms of service"), n.TOSURI, "https://…"),
			field("policy_uri", lang.T(ctx, "Privacy policy"), n.PolicyURI, "https://…"), contacts,
			field("scope", lang.T(ctx, "Scope"), n.Scope, lang.T(ctx, "For your information; people choose what it may do.")),
			field("software_id", lang.T(ctx, "Software id"), n.SoftwareID, ""), field("software_version", lang.T(ctx, "Software version"), n.SoftwareVersion, ""),
		}},
	}
}

// AddClient enters a client, and shows its secret once where it has one.
func (h *Handlers) AddClient(c echo.Context) error {
	values, _, err := h.readAdminPost(c, purposeNewClient, newClientPath)
	if err != nil {
		return err
	}
	ctx, form := c.Request().Context(), parseNewClient(values)
	n, problem := form.entry(ctx)
	if problem != "" {
		return h.showNewClient(c, http.StatusUnprocessableEntity, form, problem)
	}
	id, secret, err := h.clients.Add(ctx, n)
	if problem := clientProblem(err); problem != "" {
		return h.showNewClient(c, http.StatusUnprocessableEntity, form, problem)
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.ClientAdded, ClientID: id, Detail: map[string]string{"name": n.Name}})
	if secret == "" {
		return see(c, withDone(clientPath(id), "added"))
	}
	return h.showOnce(c, shownOnce{Kind: onceClient, Name: n.Name, ID: id, Secret: secret})
}

// clientProblem puts a refusal of entered metadata into a sentence; "" for every other error.
func clientProblem(err error) string {
	var invalid *connection.Invalid
	var protocol *oauth.Error
	switch {
	case errors.As(err, &invalid):
		return invalid.Message
	case errors.As(err, &protocol) && protocol.Status < http.StatusInternalServerError:
		return protocol.Description
	}
	return ""
}
