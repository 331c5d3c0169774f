package web

import (
	"context"

	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// adminTiles are the figures of the overview.
func (h *Handlers) adminTiles(ctx context.Context) ([]templates.AdminTileView, error) {
	return []templates.AdminTileView{
		{Path: adminAuditPath, Title: lang.T(ctx, "Audit"), Text: lang.T(ctx, "Who changed what")},
	}, nil
}
