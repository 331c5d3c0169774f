package web

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const adminAuditPath = adminPath + "/audit"

// auditQuery is the filter of the audit page, read once.
type auditQuery struct{ person, action, client, connection, from, until, before string }

func parseAuditQuery(q url.Values) auditQuery {
	return auditQuery{person: q.Get("person"), action: q.Get("action"), client: q.Get("client"), connection: q.Get("connection"), from: dayOrNothing(q.Get("from")), until: dayOrNothing(q.Get("until")),
		before: parseRequestID(q.Get("before"))}
}

func (q auditQuery) filtered() bool {
	return q.person != "" || q.client != "" || q.connection != "" || q.action != "" || q.from != "" || q.until != ""
}

// older is the address of the next page.
func (q auditQuery) older(before string) templ.SafeURL {
	if before == "" {
		return ""
	}
	return pathWith(adminAuditPath, "person", q.person, "action", q.action, "client", q.client, "connection", q.connection, "from", q.from, "until", q.until, "before", before)
}

// pathWith adds the parameters that are not empty; they come in pairs.
func pathWith(path string, pairs ...string) templ.SafeURL {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return templ.SafeURL(path)
	}
	return templ.SafeURL(path + "?" + values.Encode())
}

func dayOrNothing(s string) string {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return ""
	}
	return s
}

// AdminAudit shows the audit record.
func (h *Handlers) AdminAudit(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx, q := c.Request().Context(), parseAuditQuery(c.QueryParams())
	view := templates.AuditView{Admin: h.adminShell(c, lang.T(ctx, "Audit"), adminAuditPath), Person: q.person, Client: q.client, Connection: q.connection, From: q.from, Until: q.until,
		Actions: auditOptions(ctx, q.action), Filtered: q.filtered()}
	filter, err := h.auditFilter(ctx, q)
	if errors.Is(err, errNoSuchPerson) {
		view.Problem = lang.T(ctx, "There is no person with this e-mail address.")
		return render(c, http.StatusOK, templates.AdminAudit(view))
	}
	if err != nil {
		return err
	}
	entries, next, err := h.audit.List(ctx, filter)
	if err != nil {
		return err
	}
	view.Entries, view.Next = h.auditEntries(ctx, entries), q.older(next)
	return render(c, http.StatusOK, templates.AdminAudit(view))
}

// auditFilter turns the page's filter into the record's. The days are those of UTC; until is included.
func (h *Handlers) auditFilter(ctx context.Context, q auditQuery) (audit.Filter, error) {
	f := audit.Filter{Action: q.action, ClientID: q.client, ConnectionID: q.connection, Before: q.before}
	if q.from != "" {
		f.From, _ = time.Parse(time.DateOnly, q.from)
	}
	if q.until != "" {
		day, _ := time.Parse(time.DateOnly, q.until)
		f.Until = day.AddDate(0, 0, 1)
	}
	var err error
	f.PersonID, err = h.personFilter(ctx, q.person)
	return f, err
}

var errNoSuchPerson = errors.New("there is no such person")

// personFilter is the id of the person with the address; errNoSuchPerson when there is none.
func (h *Handlers) personFilter(ctx context.Context, email string) (string, error) {
	if email == "" {
		return "", nil
	}
	p, err := h.accounts.PersonByEmail(ctx, email)
	if code := account.CodeOf(err); code == account.CodeNotFound || code == account.CodeValidation {
		return "", errNoSuchPerson
	}
	if err != nil {
		return "", err
	}
	return p.ID, nil
}

func auditOptions(ctx context.Context, chosen string) []templates.OptionView {
	options := []templates.OptionView{{Label: lang.T(ctx, "Everything")}}
	for _, noun := range auditNouns {
		options = append(options, templates.OptionView{Value: noun.value, Label: lang.T(ctx, noun.label), Chosen: noun.value == chosen})
	}
	names := slices.SortedFunc(maps.Keys(auditWords), func(a, b string) int { return compareText(lang.T(ctx, auditWords[a]), lang.T(ctx, auditWords[b])) })
	for _, name := range names {
		options = append(options, templates.OptionView{Value: name, Label: lang.T(ctx, auditWords[name]), Chosen: name == chosen})
	}
	return options
}

func (h *Handlers) auditEntries(ctx context.Context, entries []audit.Entry) []templates.AuditEntryView {
	views := make([]templates.AuditEntryView, len(entries))
	for i := range entries {
		views[i] = h.auditEntry(ctx, &entries[i])
	}
	return views
}

func (h *Handlers) auditEntry(ctx context.Context, e *audit.Entry) templates.AuditEntryView {
	view := templates.AuditEntryView{At: h.timeView(ctx, e.At), Action: auditActionWords(ctx, e.Action), Who: auditActor(ctx, e),
		Client: orElse(e.ClientName, e.ClientID), Connection: e.ConnectionID, Address: e.Address}
	if e.Actor == audit.ActorClient && e.ClientID == "" {
		view.Client = ""
	}
	if e.PersonID != e.ActorID {
		view.Person = orElse(e.PersonName, e.PersonID)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Detail)) {
		view.Facts = append(view.Facts, templates.FactView{Label: auditFactWords(ctx, name), Text: e.Detail[name]})
	}
	return view
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
