package web

import (
	"context"
	"errors"
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

const adminConnectionsPath = adminPath + "/connections"

// ConnectionsAdmin is what administrators do with everybody's connections.
type ConnectionsAdmin interface {
	ListAll(ctx context.Context, f connection.Filter) ([]connection.Connection, error)
	End(ctx context.Context, id string) error
	EndAnyInstallation(ctx context.Context, id string) error
}

func adminConnectionPath(id string) string { return adminConnectionsPath + "/" + url.PathEscape(id) }

func purposeEndAny(id string) string { return "end any connection " + id }

func purposeEndAnyInstallation(id string) string { return "end any installation " + id }

// connectionQuery is the filter of the page, read once.
type connectionQuery struct {
	person, client, host string
	ended                bool
}

func parseConnectionQuery(q url.Values) connectionQuery {
	return connectionQuery{person: strings.TrimSpace(q.Get("person")), client: strings.TrimSpace(q.Get("client")), host: strings.TrimSpace(q.Get("host")), ended: q.Get("ended") == "1"}
}

func (q connectionQuery) pairs() []string {
	ended := ""
	if q.ended {
		ended = "1"
	}
	return []string{"person", q.person, "client", q.client, "host", q.host, "ended", ended}
}

// AdminConnections lists everybody's connections.
func (h *Handlers) AdminConnections(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx, page, q := c.Request().Context(), pageNumber(c), parseConnectionQuery(c.QueryParams())
	view := templates.AdminListView{
		Admin: h.adminShell(c, lang.T(ctx, "Connections"), adminConnectionsPath), Path: adminConnectionsPath,
		Filtered: q != connectionQuery{}, Lead: lang.T(ctx, "Every app that somebody let in, the newest first."), Empty: lang.T(ctx, "No app is connected."),
		Filters: []templates.FilterView{
			{Name: "person", Label: lang.T(ctx, "Person (e-mail)"), Value: q.person}, {Name: "client", Label: lang.T(ctx, "Client (name or id)"), Value: q.client},
			{Name: "host", Label: lang.T(ctx, "Verified host"), Value: q.host}, {Name: "ended", Label: lang.T(ctx, "Ended ones too"), Tick: true, Ticked: q.ended},
		},
	}
	person, err := h.personFilter(ctx, q.person)
	if errors.Is(err, errNoSuchPerson) {
		view.Problem = lang.T(ctx, "There is no person with this e-mail address.")
		return render(c, http.StatusOK, templates.AdminList(view))
	}
	if err != nil {
		return err
	}
	list, err := h.connections.ListAll(ctx, connection.Filter{UserID: person, Client: q.client, Host: q.host, Ended: q.ended, Limit: adminListed + 1, Offset: offsetOf(page)})
	if err != nil {
		return err
	}
	view.Newer, view.Older = pageLinks(adminConnectionsPath, page, len(list) > adminListed, q.pairs()...)
	for i := range list[:min(len(list), adminListed)] {
		view.Rows = append(view.Rows, h.adminConnectionRow(ctx, &list[i]))
	}
	return render(c, http.StatusOK, templates.AdminList(view))
}

func (h *Handlers) adminConnectionRow(ctx context.Context, n *connection.Connection) templates.AdminRowView {
	row := templates.AdminRowView{Title: connectedApp(ctx, n.Client).Name, Link: templ.SafeURL(adminConnectionPath(n.ID)), Badges: h.connectionBadges(ctx, n)}
	row.Facts = fact(nil, lang.T(ctx, "Person"), n.UserName+" · "+n.UserEmail)
	row.Facts = fact(row.Facts, lang.T(ctx, "May"), shortScopes(ctx, n.Scopes)...)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Since"), &n.CreatedAt)
	if n.LastUsed != nil {
		row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Last used"), &n.LastUsed.At)
	}
	return row
}

func (h *Handlers) connectionBadges(ctx context.Context, n *connection.Connection) []templates.BadgeView {
	var badges []templates.BadgeView
	switch {
	case n.EndedAt != nil:
		badges = append(badges, templates.BadgeView{Text: lang.T(ctx, "Ended"), Tone: "bad"})
	case !n.Live(h.now()):
		badges = append(badges, templates.BadgeView{Text: lang.T(ctx, "Expired"), Tone: "bad"})
	}
	if n.Client.Host != "" {
		badges = append(badges, templates.BadgeView{Text: lang.T(ctx, "Verified: {host}", "host", n.Client.Host), Tone: "good"})
	}
	if n.Client.Blocked {
		badges = append(badges, templates.BadgeView{Text: lang.T(ctx, "Client blocked"), Tone: "bad"})
	}
	return badges
}

// AdminConnection shows anybody's connection.
func (h *Handlers) AdminConnection(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	n, err := h.anyConnection(ctx, c.Param("connection"))
	if err != nil {
		return err
	}
	view := templates.AdminDetailView{
		Admin: h.adminShell(c, connectedApp(ctx, n.Client).Name, adminConnectionsPath), Back: back(ctx, adminConnectionsPath, "Connections"),
		Badges: h.connectionBadges(ctx, n), Facts: h.adminConnectionFacts(ctx, n),
	}
	if n.Client.Kind != "" {
		view.Links = append(view.Links, templates.LinkView{Path: templ.SafeURL(clientPath(n.Client.ID)), Label: lang.T(ctx, "Client")})
	}
	view.Links = append(view.Links, templates.LinkView{Path: templ.SafeURL(personPath(n.UserID)), Label: lang.T(ctx, "Person")},
		templates.LinkView{Path: pathWith(adminAuditPath, "connection", n.ID), Label: lang.T(ctx, "Audit")})
	v := visitOf(c)
	if rows := h.adminInstallations(ctx, v, n); len(rows) > 0 {
		view.Sections = []templates.AdminSectionView{{ID: "installations", Title: lang.T(ctx, "Installations"), Rows: rows}}
	}
	if n.Live(h.now()) {
		view.Actions = []templates.AdminActionView{{ID: "end", Title: lang.T(ctx, "Disconnect"),
			Text:   lang.T(ctx, "The app's next call is refused. What it changed can still be undone for 7 days."),
			Button: dangerButton(v, adminConnectionPath(n.ID)+"/end", purposeEndAny(n.ID), lang.T(ctx, "Disconnect"), connectedApp(ctx, n.Client).Name)}}
	}
	return render(c, http.StatusOK, templates.AdminDetail(view))
}

func (h *Handlers) anyConnection(ctx context.Context, id string) (*connection.Connection, error) {
	list, err := h.connections.ListAll(ctx, connection.Filter{ID: id, Ended: true})
	if err != nil {
		return nil, err
	}
	if id == "" || len(list) != 1 {
		return nil, connection.ErrNotFound
	}
	return &list[0], nil
}

func (h *Handlers) adminConnectionFacts(ctx context.Context, n *connection.Connection) []templates.AdminFactView {
	facts := fact(nil, lang.T(ctx, "Person"), n.UserName, n.UserEmail)
	facts = fact(facts, lang.T(ctx, "Client id"), n.Client.ID)
	facts = fact(facts, lang.T(ctx, "Reaches"), h.nameOfResource(n.Resource))
	facts = fact(facts, lang.T(ctx, "May"), shortScopes(ctx, n.Scopes)...)
	facts = fact(facts, lang.T(ctx, "Where"), locationNames(n.Locations)...)
	facts = fact(facts, lang.T(ctx, "Tools taken away"), n.HiddenTools...)
	facts = h.timeFact(ctx, facts, lang.T(ctx, "Since"), &n.CreatedAt)
	facts = h.timeFact(ctx, facts, lang.T(ctx, "Changed"), &n.UpdatedAt)
	if n.LastUsed != nil {
		facts = h.timeFact(ctx, facts, lang.T(ctx, "Last used"), &n.LastUsed.At)
		facts = fact(facts, lang.T(ctx, "Last use"), useWords(ctx, n.LastUsed))
	}
	facts = h.timeFact(ctx, facts, lang.T(ctx, "Ends"), n.ExpiresAt)
	facts = h.timeFact(ctx, facts, lang.T(ctx, "Ended"), n.EndedAt)
	return fact(facts, lang.T(ctx, "Ended because"), endWords(ctx, n.EndedReason))
}

// endWords says why something ended; a reason without words is shown as it is.
func endWords(ctx context.Context, reason string) string {
	switch reason {
	case connection.EndedByUser:
		return lang.T(ctx, "The person ended it")
	case connection.EndedByAdmin:
		return lang.T(ctx, "An administrator ended it")
	case "expired":
		return lang.T(ctx, "Its time was over")
	case "client_deleted":
		return lang.T(ctx, "The client was deleted")
	case "refresh_reuse", "reuse":
		return lang.T(ctx, "An old copy of the sign-in was used")
	}
	return reason
}

func (h *Handlers) adminInstallations(ctx context.Context, v *visit, n *connection.Connection) []templates.AdminRowView {
	var rows []templates.AdminRowView
	for _, i := range n.Installations {
		row := templates.AdminRowView{Title: deviceOf(ctx, i)}
		row.Facts = h.timeFact(ctx, nil, lang.T(ctx, "First seen"), &i.FirstSeenAt)
		if i.LastUsed != nil {
			row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Last used"), &i.LastUsed.At)
			row.Facts = fact(row.Facts, lang.T(ctx, "Last use"), useWords(ctx, i.LastUsed))
		}
		if i.EndedAt != nil {
			row.Badges = []templates.BadgeView{{Text: lang.T(ctx, "Ended"), Tone: "bad"}}
			row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Ended"), i.EndedAt)
			row.Facts = fact(row.Facts, lang.T(ctx, "Ended because"), endWords(ctx, i.EndedReason))
		} else if n.Live(h.now()) {
			row.Buttons = []templates.ButtonView{dangerButton(v, adminConnectionPath(n.ID)+"/installations/"+url.PathEscape(i.ID)+"/end",
				purposeEndAnyInstallation(i.ID), lang.T(ctx, "End"), row.Title)}
		}
		rows = append(rows, row)
	}
	return rows
}

// SeeAdminConnection answers a reload of an action's address.
func (h *Handlers) SeeAdminConnection(c echo.Context) error {
	return see(c, adminConnectionPath(c.Param("connection")))
}

// EndAnyConnection ends anybody's connection.
func (h *Handlers) EndAnyConnection(c echo.Context) error {
	id := c.Param("connection")
	return h.endAny(c, purposeEndAny(id), audit.Entry{Action: audit.ConnectionEnded, ConnectionID: id}, func(ctx context.Context, _ *connection.Connection) error {
		return h.connections.End(ctx, id)
	})
}

// EndAnyInstallation ends one installation of anybody's connection.
func (h *Handlers) EndAnyInstallation(c echo.Context) error {
	id := c.Param("installation")
	entry := audit.Entry{Action: audit.InstallationEnded, ConnectionID: c.Param("connection"), Detail: map[string]string{"installation": id}}
	return h.endAny(c, purposeEndAnyInstallation(id), entry, func(ctx context.Context, n *connection.Connection) error {
		for _, i := range n.Installations {
			if i.ID == id {
				return h.connections.EndAnyInstallation(ctx, id)
			}
		}
		return connection.ErrNotFound
	})
}

func (h *Handlers) endAny(c echo.Context, purpose string, entry audit.Entry, do func(context.Context, *connection.Connection) error) error {
	page := adminConnectionPath(entry.ConnectionID)
	if _, _, err := h.readAdminPost(c, purpose, page); err != nil {
		return err
	}
	ctx := c.Request().Context()
	n, err := h.anyConnection(ctx, entry.ConnectionID)
	if err != nil {
		return err
	}
	if err := do(ctx, n); err != nil {
		return err
	}
	entry.PersonID, entry.ClientID = n.UserID, n.Client.ID
	h.record(c, entry)
	return see(c, withDone(page, "changed"))
}
