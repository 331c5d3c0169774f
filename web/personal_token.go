package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

const purposeNewToken = "new token"

func purposeRevokeToken(id string) string { return "revoke token " + id }

// newTokenForm is the form for a personal token, read once.
type newTokenForm struct {
	name, scope string
	locations   []string
	expires     string
	confirmed   bool
	// once is the form's own random value: the same form makes one token, however often it is sent.
	once string
	// askConfirm shows the box that confirms a token over locations of different people.
	askConfirm bool
}

func parseNewToken(form url.Values) newTokenForm {
	return newTokenForm{
		name: form.Get("name"), scope: form.Get("scope"), locations: form["location"], expires: form.Get("expires"),
		confirmed: form.Get("confirm_cross_location") == "true", once: form.Get("once"),
	}
}

// tokenScopes are the rights of personal tokens in words.
var tokenScopes = []struct{ value, scope string }{
	{account.TokenRead, home.ScopeRead}, {account.TokenWrite, home.ScopeWrite},
}

// CreateToken makes a personal token and goes on to the page that shows it, this once.
func (h *Handlers) CreateToken(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	values, err := h.readPost(c, purposeNewToken)
	if err != nil {
		return err
	}
	form := parseNewToken(values)
	created, err := h.accounts.CreateToken(c.Request().Context(), session.UserID, account.NewToken{
		Name: form.name, Scope: form.scope, LocationIDs: form.locations, ExpiresAt: h.expiresAt(form.expires),
		ConfirmCrossLocation: form.confirmed, SessionID: session.ID, Seed: visitOf(c).seed(form),
	})
	if errors.Is(err, account.ErrRepeated) {
		return see(c, connectionsPath+"?done=token")
	}
	if problem := problemOf(c.Request().Context(), err); problem != "" {
		form.askConfirm = account.CodeOf(err) == account.CodeCrossLocationWrite
		return h.showConnections(c, http.StatusUnprocessableEntity, session, form, problem)
	}
	if err != nil {
		return err
	}
	return h.handOver(c, created)
}

// once makes the random value of a form.
func (h *Handlers) once() (string, error) {
	value := make([]byte, 16)
	if _, err := io.ReadFull(h.rand, value); err != nil {
		return "", fmt.Errorf("make a form: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(value), nil
}

// seed is what a token's secret is made from: the form under the session's secret, which only this browser has. Another
// name or scope makes another token.
func (v *visit) seed(form newTokenForm) []byte {
	if form.once == "" {
		return nil
	}
	mac := hmac.New(sha256.New, []byte(v.secret))
	fmt.Fprintf(mac, "seed new token %q %q %q %q %q", form.once, form.name, form.scope, form.locations, form.expires)
	return mac.Sum(nil)
}

// RevokeToken ends a personal token.
func (h *Handlers) RevokeToken(c echo.Context) error {
	id := c.Param("token")
	return h.act(c, purposeRevokeToken(id), connectionsPath+"?done=revoked", func(ctx context.Context, s *account.Session) error {
		return h.accounts.RevokeToken(ctx, s.UserID, id)
	})
}

// addTokens adds the living personal tokens and the form for another to the page.
func (h *Handlers) addTokens(ctx context.Context, v *visit, userID string, view *templates.ConnectionsView, form newTokenForm) error {
	tokens, err := h.accounts.Tokens(ctx, userID)
	if err != nil {
		return err
	}
	memberships, err := h.homes.LocationsOf(ctx, userID)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, m := range memberships {
		names[m.ID] = m.Name
	}
	for i := range tokens {
		if tokens[i].EndedAt == nil {
			view.Tokens = append(view.Tokens, h.tokenView(ctx, v, &tokens[i], names))
		}
	}
	view.NewToken = h.newTokenView(ctx, v, memberships, form)
	view.NewToken.Once, err = h.once()
	return err
}

func (h *Handlers) tokenView(ctx context.Context, v *visit, t *account.PersonalToken, names map[string]string) templates.TokenView {
	view := templates.TokenView{
		Name: t.Name, Lookup: t.Lookup, Created: h.timeView(ctx, t.CreatedAt), LastUsed: h.timeViewOf(ctx, t.LastUsedAt), Expires: h.timeViewOf(ctx, t.ExpiresAt),
		Activity:  templ.SafeURL(tokenActivityPath(t.ID)),
		EndAction: templ.SafeURL(connectionsPath + "/tokens/" + url.PathEscape(t.ID) + "/revoke"), EndToken: v.formToken(purposeRevokeToken(t.ID)),
	}
	for _, s := range tokenScopes {
		if s.value == t.Scope {
			view.Scope = scopeWords(ctx, s.scope).short
		}
	}
	for _, id := range t.LocationIDs {
		if name := names[id]; name != "" {
			view.Locations = append(view.Locations, name)
		}
	}
	return view
}

func (h *Handlers) newTokenView(ctx context.Context, v *visit, memberships []home.Membership, form newTokenForm) templates.NewTokenView {
	view := templates.NewTokenView{
		Token: v.formToken(purposeNewToken), Name: form.name, Expiries: expiryChoices(ctx, form.expires), ConfirmCross: form.askConfirm,
	}
	if !h.oauthOn {
		view.Unavailable = lang.T(ctx, "Personal tokens need an https address: over plain http anybody on the way could read them.")
	}
	for _, s := range tokenScopes {
		w := scopeWords(ctx, s.scope)
		view.Scopes = append(view.Scopes, templates.ChoiceView{Value: s.value, Title: w.title, Detail: w.detail, Ticked: s.value == form.scope})
	}
	for i, m := range memberships {
		view.Locations = append(view.Locations, templates.ChoiceView{
			Value: m.ID, Title: m.Name, Detail: roleWords(ctx, m.Role),
			Ticked: slices.Contains(form.locations, m.ID) || form.locations == nil && i == 0,
		})
	}
	return view
}
