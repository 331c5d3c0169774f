package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const adminClientsPath = adminPath + "/clients"

// ClientsAdmin is what administrators do with clients; connection.Clients is one.
type ClientsAdmin interface {
	Find(ctx context.Context, f connection.ClientFilter) (list []connection.KnownClient, more bool, err error)
	Get(ctx context.Context, id string) (*connection.KnownClient, error)
	Block(ctx context.Context, id string) error
	Unblock(ctx context.Context, id string) error
	Delete(ctx context.Context, id string) error
	Add(ctx context.Context, n connection.NewClient) (id, secret string, err error)
}

func purposeClient(action, id string) string { return action + " client " + id }

// clientPath is the page of a client. Ids can be URLs, so they stand in the query.
func clientPath(id string) string {
	return adminClientsPath + "/client?" + url.Values{"id": {id}}.Encode()
}

func clientActionPath(action, id string) string {
	return adminClientsPath + "/" + action + "?" + url.Values{"id": {id}}.Encode()
}

// AdminClients lists clients.
func (h *Handlers) AdminClients(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx, page := c.Request().Context(), pageNumber(c)
	text, kind, blocked := c.QueryParam("q"), c.QueryParam("kind"), c.QueryParam("blocked")
	list, more, err := h.clients.Find(ctx, connection.ClientFilter{Text: text, Kind: kind, Blocked: blocked == "1", Offset: offsetOf(page), Limit: adminListed})
	if err != nil {
		return err
	}
	view := templates.AdminListView{
		Admin: h.adminShell(c, lang.T(ctx, "Clients"), adminClientsPath), Path: adminClientsPath, Filtered: text != "" || kind != "" || blocked == "1",
		Lead:  lang.T(ctx, "Apps that asked to connect, the one seen last first. What an app says of itself is not proven, except the host of its description."),
		Empty: lang.T(ctx, "No client is known."),
		Links: []templates.LinkView{{Path: newClientPath, Label: lang.T(ctx, "Enter a client")}},
		Filters: []templates.FilterView{
			{Name: "q", Label: lang.T(ctx, "Name, host or id"), Value: text},
			{Name: "kind", Label: lang.T(ctx, "How it became known"), Options: optionList(kind, "", lang.T(ctx, "All"), "dynamic", kindWords(ctx, "dynamic"),
				"document", kindWords(ctx, "document"), "registered", kindWords(ctx, "registered"))},
			{Name: "blocked", Label: lang.T(ctx, "Blocked only"), Tick: true, Ticked: blocked == "1"},
		},
	}
	view.Newer, view.Older = pageLinks(adminClientsPath, page, more, "q", text, "kind", kind, "blocked", blocked)
	for i := range list {
		view.Rows = append(view.Rows, h.clientRow(ctx, &list[i]))
	}
	return render(c, http.StatusOK, templates.AdminList(view))
}

// kindWords says how a client became known.
func kindWords(ctx context.Context, kind string) string {
	switch kind {
	case "dynamic":
		return lang.T(ctx, "Registered itself")
	case "document":
		return lang.T(ctx, "By its own description")
	case "registered":
		return lang.T(ctx, "Entered by an administrator")
	}
	return kind
}

func clientBadges(ctx context.Context, k *connection.KnownClient) []templates.BadgeView {
	badges := []templates.BadgeView{{Text: kindWords(ctx, k.Kind)}}
	if k.Kind == "registered" {
		badges[0].Tone = "good"
	}
	if k.Host != "" {
		badges = append(badges, templates.BadgeView{Text: lang.T(ctx, "Verified: {host}", "host", k.Host), Tone: "good"})
	}
	if k.BlockedAt != nil {
		badges = append(badges, templates.BadgeView{Text: lang.T(ctx, "Blocked"), Tone: "bad"})
	}
	return badges
}

func (h *Handlers) clientRow(ctx context.Context, k *connection.KnownClient) templates.AdminRowView {
	row := templates.AdminRowView{Title: clientName(ctx, k.Name, k.ID), Link: templ.SafeURL(clientPath(k.ID)), Badges: clientBadges(ctx, k)}
	row.Facts = fact(nil, lang.T(ctx, "Connections"), lang.N(ctx, k.Connections, "1 connection", "{n} connections"))
	row.Facts = fact(row.Facts, lang.T(ctx, "Software"), strings.TrimSpace(k.SoftwareID+" "+k.SoftwareVersion))
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "First seen"), &k.CreatedAt)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Last seen"), &k.LastSeenAt)
	return row
}

// AdminClient shows a client and what can be done about it.
func (h *Handlers) AdminClient(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	k, err := h.clients.Get(ctx, c.QueryParam("id"))
	if err != nil {
		return err
	}
	view := templates.AdminDetailView{Admin: h.adminShell(c, clientName(ctx, k.Name, k.ID), adminClientsPath), Back: back(ctx, adminClientsPath, "Clients"),
		Badges: clientBadges(ctx, k), Facts: h.clientFacts(ctx, k), Actions: clientActions(ctx, visitOf(c), k)}
	view.Links = []templates.LinkView{
		{Path: pathWith(adminConnectionsPath, "client", k.ID), Label: lang.T(ctx, "Connections")},
		{Path: pathWith(adminAttemptsPath, "client", k.ID), Label: lang.T(ctx, "Attempts")},
		{Path: pathWith(adminAuditPath, "client", k.ID), Label: lang.T(ctx, "Audit")},
	}
	if err := h.addClientSettings(ctx, visitOf(c), &view, k.ID); err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.AdminDetail(view))
}

func (h *Handlers) clientFacts(ctx context.Context, k *connection.KnownClient) []templates.AdminFactView {
	facts := fact(nil, lang.T(ctx, "Id"), k.ID)
	facts = fact(facts, lang.T(ctx, "Connections"), lang.N(ctx, k.Connections, "1 connection", "{n} connections"))
	facts = fact(facts, lang.T(ctx, "Answers go to"), k.RedirectURIs...)
	facts = fact(facts, lang.T(ctx, "Proves itself by"), k.AuthMethods...)
	facts = fact(facts, lang.T(ctx, "Address of its keys"), k.JWKSURI)
	if k.HasKeys {
		facts = fact(facts, lang.T(ctx, "Keys"), lang.T(ctx, "Registered with the client"))
	}
	if k.RequirePushed {
		facts = fact(facts, lang.T(ctx, "Requests"), lang.T(ctx, "Must be pushed (PAR)"))
	}
	if k.DPoPBound {
		facts = fact(facts, lang.T(ctx, "Tokens"), lang.T(ctx, "Always bound to its key (DPoP)"))
	}
	facts = fact(facts, lang.T(ctx, "Grants"), k.GrantTypes...)
	facts = fact(facts, lang.T(ctx, "Scope"), k.Scope)
	facts = fact(facts, lang.T(ctx, "Kind of program"), k.ApplicationType)
	facts = fact(facts, lang.T(ctx, "Software"), strings.TrimSpace(k.SoftwareID+" "+k.SoftwareVersion))
	facts = fact(facts, lang.T(ctx, "Its pages, as it says"), k.ClientURI, k.TOSURI, k.PolicyURI)
	facts = fact(facts, lang.T(ctx, "Contacts, as it says"), k.Contacts...)
	facts = h.timeFact(ctx, facts, lang.T(ctx, "First seen"), &k.CreatedAt)
	facts = h.timeFact(ctx, facts, lang.T(ctx, "Last seen"), &k.LastSeenAt)
	facts = h.timeFact(ctx, facts, lang.T(ctx, "Description fetched"), k.FetchedAt)
	return h.timeFact(ctx, facts, lang.T(ctx, "Blocked"), k.BlockedAt)
}

func clientActions(ctx context.Context, v *visit, k *connection.KnownClient) []templates.AdminActionView {
	name := clientName(ctx, k.Name, k.ID)
	block := templates.AdminActionView{ID: "block", Title: lang.T(ctx, "Access"),
		Text:   lang.T(ctx, "Blocks the app for everybody: no sign-in, no token, no call from now on. Its connections stay and work again when it is unblocked."),
		Button: dangerButton(v, clientActionPath("block", k.ID), purposeClient("block", k.ID), lang.T(ctx, "Block"), name)}
	if k.BlockedAt != nil {
		block.Text = lang.T(ctx, "The app can connect again, and its connections work again.")
		block.Button = button(v, clientActionPath("unblock", k.ID), purposeClient("unblock", k.ID), lang.T(ctx, "Unblock"), name)
	}
	return []templates.AdminActionView{block, {ID: "delete", Title: lang.T(ctx, "Delete"),
		Text:    lang.T(ctx, "Ends all its connections and forgets the client. An app that still holds the registration has to be added again. What it changed can still be undone for 7 days."),
		Confirm: lang.N(ctx, k.Connections, "Yes, delete it and end 1 connection", "Yes, delete it and end {n} connections"),
		Button:  dangerButton(v, clientActionPath("delete", k.ID), purposeClient("delete", k.ID), lang.T(ctx, "Delete"), name)}}
}

// SeeClient answers a reload of an action's address.
func (h *Handlers) SeeClient(c echo.Context) error { return see(c, clientPath(c.QueryParam("id"))) }

// BlockClient shuts a client out.
func (h *Handlers) BlockClient(c echo.Context) error {
	return h.changeClient(c, "block", audit.ClientBlocked, h.clients.Block)
}

// UnblockClient lets a client in again.
func (h *Handlers) UnblockClient(c echo.Context) error {
	return h.changeClient(c, "unblock", audit.ClientUnblocked, h.clients.Unblock)
}

// DeleteClient ends a client's connections and forgets it.
func (h *Handlers) DeleteClient(c echo.Context) error {
	return h.changeClient(c, "delete", audit.ClientDeleted, h.clients.Delete)
}

func (h *Handlers) changeClient(c echo.Context, action, entry string, do func(context.Context, string) error) error {
	id := c.QueryParam("id")
	form, _, err := h.readAdminPost(c, purposeClient(action, id), clientPath(id))
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	k, err := h.clients.Get(ctx, id)
	if err != nil {
		return err
	}
	next := withDone(clientPath(id), "changed")
	if action == "delete" {
		if form.Get("confirm") != "yes" {
			return see(c, clientPath(id))
		}
		next = withDone(adminClientsPath, "deleted")
	}
	if err := do(ctx, id); err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: entry, ClientID: id, Detail: map[string]string{"name": k.Name, "connections": countText(k.Connections)}})
	return see(c, next)
}
