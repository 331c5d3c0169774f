package web

import (
	"context"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// tileCount is up to where the overview counts; beyond it says "more than".
const tileCount = 500

// adminTiles are the figures of the overview.
func (h *Handlers) adminTiles(ctx context.Context) ([]templates.AdminTileView, error) {
	people, morePeople, err := h.accounts.ListPeople(ctx, account.PeopleFilter{Limit: tileCount})
	if err != nil {
		return nil, err
	}
	connections, err := h.connections.ListAll(ctx, connection.Filter{Limit: tileCount + 1})
	if err != nil {
		return nil, err
	}
	blocked, moreBlocked, err := h.clients.Find(ctx, connection.ClientFilter{Blocked: true, Limit: tileCount})
	if err != nil {
		return nil, err
	}
	failed, moreFailed, err := h.attempts.FindAttempts(ctx, AttemptFilter{Failed: true, Limit: tileCount})
	if err != nil {
		return nil, err
	}
	connected := min(len(connections), tileCount)
	return []templates.AdminTileView{
		{Path: adminPeoplePath, Title: lang.T(ctx, "People"), Text: figure(ctx, lang.N(ctx, len(people), "1 person", "{n} people"), morePeople)},
		{Path: adminConnectionsPath, Title: lang.T(ctx, "Connections"), Text: figure(ctx, lang.N(ctx, connected, "1 connection", "{n} connections"), len(connections) > connected)},
		{Path: adminClientsPath, Title: lang.T(ctx, "Clients"), Text: figure(ctx, lang.N(ctx, len(blocked), "1 is blocked", "{n} are blocked"), moreBlocked)},
		{Path: adminAttemptsPath + "?failed=1", Title: lang.T(ctx, "Attempts"),
			Text: figure(ctx, lang.N(ctx, len(failed), "1 did not work in the last 14 days", "{n} did not work in the last 14 days"), moreFailed)},
		{Path: adminIssuersPath, Title: lang.T(ctx, "Issuers"), Text: lang.T(ctx, "Identity providers whose assertions are accepted")},
	}, nil
}

// figure is a count in words, or at least it when there is more.
func figure(ctx context.Context, words string, more bool) string {
	if more {
		return lang.T(ctx, "More than {count}", "count", words)
	}
	return words
}
