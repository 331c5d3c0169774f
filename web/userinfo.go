package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/limit"
	"gatehouse/oauth"
)

// userInfo is the answer of the userinfo endpoint (OpenID Connect Core §5.3.2).
type userInfo struct {
	Subject string `json:"sub"`
	// Email is there with EmailVerified. Nobody has proven that letters to the address reach the person.
	Email         string `json:"email,omitempty"`
	EmailVerified *bool  `json:"email_verified,omitempty"`
}

// UserInfo is the userinfo endpoint (OpenID Connect Core §5.3).
func (h *Handlers) UserInfo(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.OAuthUserInfo); err != nil {
		return err
	}
	r := c.Request()
	info, err := h.oauth.UserInfo(r.Context(), r.Header.Values(echo.HeaderAuthorization), oauth.ProofRequest{
		Headers: r.Header.Values("DPoP"), Method: r.Method, URL: h.url + c.Path(),
	})
	if err != nil {
		return err
	}
	answer := userInfo{Subject: info.Subject}
	if info.Email {
		person, err := h.accounts.PersonByID(r.Context(), info.Subject)
		if errors.Is(err, account.ErrNotFound) {
			return oauth.InvalidToken("The person behind this token is gone.")
		}
		if err != nil {
			return err
		}
		answer.Email, answer.EmailVerified = person.Email, new(bool)
	}
	return c.JSON(http.StatusOK, answer)
}
