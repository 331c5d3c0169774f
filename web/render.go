package web

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// render builds the page in memory and sends it with its status: an error while rendering leaves nothing half sent.
func render(c echo.Context, status int, page templ.Component) error {
	var buf bytes.Buffer
	if err := page.Render(c.Request().Context(), &buf); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	return c.HTMLBlob(status, buf.Bytes())
}

// shell is the frame of a page for whoever looks at it. The title is in their language already.
func (h *Handlers) shell(c echo.Context, title, current string) templates.ShellView {
	v := visitOf(c)
	shell := templates.ShellView{Title: title, Current: current}
	if notice := notices[c.QueryParam("done")]; notice != "" {
		shell.Notice = say(c, notice)
	}
	if v.secret != "" {
		shell.LanguageToken, shell.Here = v.formToken(purposeLanguage), here(c)
	}
	if v.signedIn() {
		shell.Person, shell.Administrator = v.session.Person.Name, v.session.Person.Admin
		shell.SignOutToken = v.formToken(purposeSignOut)
	}
	return shell
}

// notices are what a page says about what was just done, by the word in the URL that the redirect left.
var notices = map[string]string{
	"changed":          lang.Text("Done. It holds from now on."),
	"deleted":          lang.Text("The client is deleted, and its connections have ended."),
	"added":            lang.Text("The client is entered."),
	"rotated":          lang.Text("The next key signs from now on."),
	"dropped":          lang.Text("The key is dropped."),
	"confirmed":        lang.Text("Thank you. Nothing was done yet: press the button again."),
	"disconnected":     lang.Text("Disconnected. The app's next call is refused."),
	"saved":            lang.Text("Saved. It holds from the app's next call."),
	"undone":           lang.Text("Undone."),
	"ended":            lang.Text("That installation is signed out. The others go on."),
	"revoked":          lang.Text("The token is revoked."),
	"password":         lang.Text("Your password is changed. Other devices are signed out; connections and personal tokens ended."),
	"session":          lang.Text("That device is signed out."),
	"linked":           lang.Text("Linked. Your other devices are signed out; connections and personal tokens ended."),
	"unlinked":         lang.Text("Unlinked. Your other devices are signed out; connections and personal tokens ended."),
	"email":            lang.Text("The address is changed. Sign in with it from now on; connections and personal tokens ended."),
	"deletion":         lang.Text("Your account will be deleted. Sign in before then if you want to keep it."),
	"kept":             lang.Text("Your account stays."),
	"joined":           lang.Text("You are in."),
	"left":             lang.Text("You have left the location."),
	"invited":          lang.Text("The invitation is on its way by mail."),
	"taken-back":       lang.Text("The invitation is taken back; its link no longer works."),
	"role":             lang.Text("The role is changed. It holds at once."),
	"removed":          lang.Text("Removed. Their apps no longer reach this location."),
	"handed-over":      lang.Text("The location is handed over."),
	"address":          lang.Text("The address is changed."),
	"provider":         lang.Text("The provider is added."),
	"provider-removed": lang.Text("The provider is removed."),
	"passkey":          lang.Text("The passkey is added. Your other devices are signed out; connections and personal tokens ended."),
	"renamed":          lang.Text("The name is saved."),
	"passkey_removed":  lang.Text("The passkey is removed. Your other devices are signed out; connections and personal tokens ended."),
	"codes_removed":    lang.Text("The authenticator app is removed. Your other devices are signed out; connections and personal tokens ended."),
	"password_removed": lang.Text("The password is removed. Your other devices are signed out; connections and personal tokens ended."),
	"others":           lang.Text("Everything else is signed out; connections and personal tokens ended."),
	"token":            lang.Text("This form made its token already. If you did not see it, revoke it and make another."),
	"issuer_removed":   lang.Text("The issuer is trusted no more, and what stood on its assertions ended."),
	"policies":         lang.Text("The policies hold from the next request."),
	"approved":         lang.Text("People can connect the app now."),
	"refused":          lang.Text("The app is blocked."),
}

// see sends the browser to another page of ours by GET.
func see(c echo.Context, path string) error { return c.Redirect(http.StatusSeeOther, path) }

// seeOther is an error that sends the browser to a page of ours.
type seeOther struct{ path string }

// Error implements error.
func (s *seeOther) Error() string { return "see " + s.path }
