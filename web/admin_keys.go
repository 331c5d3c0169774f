package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const (
	adminKeysPath     = adminPath + "/keys"
	purposeRotateKeys = "rotate keys"
)

func purposeDropKey(kid string) string { return "drop key " + kid }

// AdminKeys lists the signing keys.
func (h *Handlers) AdminKeys(c echo.Context) error {
	if _, err := h.requireAdmin(c); err != nil {
		return err
	}
	ctx, v := c.Request().Context(), visitOf(c)
	keys, err := h.oauth.SigningKeys(ctx)
	if err != nil {
		return err
	}
	view := templates.AdminListView{
		Admin: h.adminShell(c, lang.T(ctx, "Keys"), adminKeysPath), Path: adminKeysPath, Empty: lang.T(ctx, "There is no key yet."),
		Lead: lang.T(ctx, "They sign the access tokens. A key is published a day before it signs, is replaced after 90 days, and stays published until its last token has expired."),
		Actions: []templates.AdminActionView{{ID: "rotate", Title: lang.T(ctx, "Rotate"),
			Text:   lang.T(ctx, "The next key signs from now on, and a new next one is made. Tokens that are out go on working. Do it when a key should be replaced before its time."),
			Button: button(v, adminKeysPath+"/rotate", purposeRotateKeys, lang.T(ctx, "Rotate"), "")}},
	}
	for i := range keys {
		k := &keys[i]
		view.Rows = append(view.Rows, h.keyRow(ctx, k))
		view.Actions = append(view.Actions, templates.AdminActionView{ID: "drop-" + k.KID, Title: lang.T(ctx, "Drop {key}", "key", k.KID),
			Text: dropWords(ctx, k.State), Confirm: lang.T(ctx, "Yes, drop this key now"),
			Button: dangerButton(v, adminKeysPath+"/"+url.PathEscape(k.KID)+"/drop", purposeDropKey(k.KID), lang.T(ctx, "Drop"), k.KID)})
	}
	return render(c, http.StatusOK, templates.AdminList(view))
}

func (h *Handlers) keyRow(ctx context.Context, k *oauth.SigningKey) templates.AdminRowView {
	row := templates.AdminRowView{Title: k.KID}
	switch k.State {
	case oauth.KeyActive:
		row.Badges = []templates.BadgeView{{Text: lang.T(ctx, "Signs now"), Tone: "good"}}
	case oauth.KeyNext:
		row.Badges = []templates.BadgeView{{Text: lang.T(ctx, "Next")}}
	default:
		row.Badges = []templates.BadgeView{{Text: lang.T(ctx, "Retired")}}
	}
	row.Facts = fact(nil, lang.T(ctx, "Algorithm"), k.Algorithm)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Made"), &k.CreatedAt)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Signs since"), k.ActivatedAt)
	row.Facts = h.timeFact(ctx, row.Facts, lang.T(ctx, "Retired"), k.RetiredAt)
	return row
}

// dropWords says what dropping a key in this state means.
func dropWords(ctx context.Context, state oauth.KeyState) string {
	switch state {
	case oauth.KeyActive:
		return lang.T(ctx, "For a key that may have leaked. All tokens it signed stop working within seconds; apps fetch new ones by themselves. The next key takes its place.")
	case oauth.KeyNext:
		return lang.T(ctx, "For a key that may have leaked. It has signed nothing yet; another next one is made.")
	}
	return lang.T(ctx, "For a key that may have leaked. Tokens that it signed and that have not expired stop working within seconds; apps fetch new ones by themselves.")
}

// RotateKeys makes the next key sign.
func (h *Handlers) RotateKeys(c echo.Context) error {
	return h.actAsAdmin(c, adminAction{purpose: purposeRotateKeys, page: adminKeysPath, done: "rotated", entry: audit.Entry{Action: audit.KeyRotated},
		do: func(ctx context.Context, _ *account.Session, _ url.Values) error { return h.oauth.RotateKeys(ctx) }})
}

// DropKey drops a key at once.
func (h *Handlers) DropKey(c echo.Context) error {
	kid := c.Param("kid")
	form, _, err := h.readAdminPost(c, purposeDropKey(kid), adminKeysPath)
	if err != nil {
		return err
	}
	if form.Get("confirm") != "yes" {
		return see(c, adminKeysPath)
	}
	err = h.oauth.DropKey(c.Request().Context(), kid)
	if errors.Is(err, oauth.ErrNotFound) {
		return notFoundPage()
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.KeyDropped, Detail: map[string]string{"key": kid}})
	return see(c, withDone(adminKeysPath, "dropped"))
}
