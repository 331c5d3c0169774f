package tools

import (
	"context"
	"slices"
	"strings"

	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/mcp"
)

// Handler is what a tool does.
type Handler struct {
	// Action is what the role at the location must grant.
	Action home.Action
	// Subject is the path of the input field whose row tells the location where none is named; empty where no row does.
	Subject string

	bind func(s *Set, r *row) (*mcp.Tool, error)
}

// located is part of every input: the location meant (KE-13).
type located struct {
	LocationID *string `json:"location_id,omitzero"`
}

func (l located) location() *string {
	if l.LocationID == nil {
		return nil
	}
	id := strings.ToLower(*l.LocationID)
	return &id
}

// page is part of the input of a tool that lists.
type page struct {
	Cursor *string `json:"cursor,omitzero"`
	Limit  *int    `json:"limit,omitzero"`
}

// input is the arguments of a tool.
type input interface{ location() *string }

// handle makes a handler out of a function over typed arguments.
func handle[In input](action home.Action, subject string, run func(ctx context.Context, q *query, in In) (*Answer, error)) Handler {
	h := Handler{Action: action, Subject: subject}
	h.bind = func(s *Set, r *row) (*mcp.Tool, error) {
		c := r.contract
		spec := mcp.ToolSpec{
			Name: c.Name, Title: c.Title, Description: c.Description,
			Annotations: c.annotations(), InputSchema: c.Schema,
		}
		return mcp.NewTool(spec, func(ctx context.Context, call *mcp.Call, in In) (*Answer, error) {
			q, err := s.query(ctx, r, in.location())
			if err != nil {
				return nil, err
			}
			if err := checkLimits(q.p, c.Name, call.Arguments()); err != nil {
				return nil, err
			}
			asOf := s.inventory.Now()
			a, err := run(ctx, q, in)
			if err != nil {
				return nil, err
			}
			a.AsOf = asOf
			return a, nil
		})
	}
	return h
}

const defaultLimit = 20

// paging opens the cursor of a call. filters are the arguments that choose and order the list.
func (q *query) paging(p page, filters any) (inventory.Paging, error) {
	out := inventory.Paging{Limit: defaultLimit}
	if p.Limit != nil {
		out.Limit = *p.Limit
	}
	if p.Cursor == nil {
		return out, nil
	}
	after, err := q.set.cursors.open(q.binding(filters), *p.Cursor)
	out.After = string(after)
	return out, err
}

// listed makes the answer of a tool that lists: data, and the cursors that continue after any of its entries.
func (q *query) listed(data any, positions []string, more bool, filters any) (*Answer, error) {
	a := &Answer{Data: data}
	a.after = func(n int) (string, error) {
		return q.set.cursors.seal(q.binding(filters), []byte(positions[n-1]))
	}
	if !more || len(positions) == 0 {
		return a, nil
	}
	var err error
	a.Next, err = a.after(len(positions))
	return a, err
}

// binding ties a cursor to tool, filters and the locations the call reads.
func (q *query) binding(filters any) binding {
	b := binding{Tool: q.row.contract.Name, Filters: filters}
	for i := range q.p.Locations {
		a := &q.p.Locations[i]
		if (q.at.LocationID == "" || q.at.LocationID == a.LocationID) && q.at.Available(a) {
			b.Locations = append(b.Locations, a.LocationID)
		}
	}
	slices.Sort(b.Locations)
	return b
}

// str is the text behind an optional argument.
func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
