package app

import (
	"context"

	"gatehouse/app/account"
)

// recordAccount writes down what happens to accounts.
func (c *core) recordAccount(ctx context.Context, h account.Happening) {
	c.log.WarnContext(ctx, "account", "action", h.Action, "user", h.UserID, "ip", h.From.IP, "detail", h.Detail)
}
