package web

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/templates"
)

// A new personal token is shown by a page of its own, so that loading that page again sends no form a second time. The
// token goes there in a cookie, because nothing but its hash is stored. The cookie is sealed under the session's secret:
// it opens in that session alone, and the page removes it.

const createdTokenPath = connectionsPath + "/tokens/created"

// createdTokenLife is how long the browser has to come for the page.
const createdTokenLife = time.Minute

// createdToken is what the page shows.
type createdToken struct {
	Name   string `json:"n"`
	Secret string `json:"s"`
	Cross  bool   `json:"c,omitempty"`
}

func (h *Handlers) createdTokenCookie() string { return h.cookiePrefix() + "gatehouse-token" }

// handOver sends the browser to the page that shows a new token.
func (h *Handlers) handOver(c echo.Context, created *account.CreatedToken) error {
	t := createdToken{
		Name: created.Token.Name, Secret: created.Secret, Cross: slices.Contains(created.Warnings, account.CodeCrossLocationWrite),
	}
	sealed, err := visitOf(c).seal(h.rand, t)
	if err != nil {
		return fmt.Errorf("hand over a new token: %w", err)
	}
	c.SetCookie(h.cookie(h.createdTokenCookie(), sealed, createdTokenLife))
	return see(c, createdTokenPath)
}

// CreatedToken shows a new personal token, this once. Without one the list says what there is.
func (h *Handlers) CreatedToken(c echo.Context) error {
	if _, err := h.requireSession(c); err != nil {
		return err
	}
	cookie, err := c.Cookie(h.createdTokenCookie())
	if err != nil {
		return see(c, connectionsPath)
	}
	c.SetCookie(h.cookie(h.createdTokenCookie(), "", 0))
	var t createdToken
	if err := visitOf(c).unseal(cookie.Value, &t); err != nil {
		return see(c, connectionsPath) // another session's
	}
	view := templates.TokenCreatedView{
		Shell: h.shell(c, say(c, "Your new token"), templates.NavConnections), Name: t.Name, Secret: t.Secret,
		Settings: clientSettings(c.Request().Context(), h.mcpURL(), t.Secret),
	}
	view.Shell.LanguageToken = "" // the page is shown once: a switch would lose the token
	if t.Cross {
		view.Warning = say(c, "Different people share these locations. What a program reads in one, it could write into another.")
	}
	return render(c, http.StatusOK, templates.TokenCreated(view))
}

// sealer makes the cipher of this session's cookies.
func (v *visit) sealer() (cipher.AEAD, error) {
	mac := hmac.New(sha256.New, []byte(v.secret))
	mac.Write([]byte("seal new token"))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func (v *visit) seal(random io.Reader, value any) (string, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	aead, err := v.sealer()
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, plain, nil)), nil
}

func (v *visit) unseal(sealed string, value any) error {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return err
	}
	aead, err := v.sealer()
	if err != nil {
		return err
	}
	if len(raw) < aead.NonceSize() {
		return errors.New("web: the sealed value is too short")
	}
	plain, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, value)
}
