package inventory

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"gatehouse/app/home"
)

// Sizes of a page.
const (
	defaultLimit = 20
	maxLimit     = 200
)

// position is where a list goes on: after the entry with the id, or, when that is gone, after so many entries.
type position struct {
	skip int
	id   string
}

func (p position) String() string { return strconv.Itoa(p.skip) + "." + p.id }

// start reads where a page starts and how long it may be.
func (p Paging) start() (position, int, error) {
	limit := cmp.Or(p.Limit, defaultLimit)
	if limit < 1 || limit > maxLimit {
		return position{}, 0, invalidf("limit", "must be 1 to %d", maxLimit)
	}
	if p.After == "" {
		return position{}, limit, nil
	}
	skip, id, ok := strings.Cut(p.After, ".")
	n, err := strconv.Atoi(skip)
	if !ok || err != nil || n < 0 || n > 1<<30 {
		return position{}, 0, invalid("cursor", "is not one that was handed out")
	}
	return position{skip: n, id: id}, limit, nil
}

// pageOf cuts a page out of a whole list. id names an entry; an entry that moved is followed.
func pageOf[T any](all []T, id func(T) string, p Paging) (Page[T], error) {
	from, limit, err := p.start()
	if err != nil {
		return Page[T]{}, err
	}
	first := min(from.skip, len(all))
	if from.id != "" {
		if i := slices.IndexFunc(all, func(v T) bool { return id(v) == from.id }); i >= 0 {
			first = i + 1
		}
	}
	last := min(first+limit, len(all))
	return Page[T]{Items: all[first:last], Positions: positions(all[first:last], id, first), More: last < len(all)}, nil
}

func positions[T any](items []T, id func(T) string, before int) []string {
	out := make([]string, len(items))
	for i, v := range items {
		out[i] = position{skip: before + i + 1, id: id(v)}.String()
	}
	return out
}

// Locations pages through the locations where the operation is available, by name (KE-21).
func (s *Service) Locations(_ context.Context, p *home.Principal, at At, page Paging) (Page[home.Access], error) {
	if !p.CanRead() {
		return Page[home.Access]{}, tokenScope()
	}
	open, err := at.locateAll(p, home.ContentView, "")
	if err != nil {
		return Page[home.Access]{}, err
	}
	list := make([]home.Access, len(open))
	for i, a := range open {
		list[i] = *a
	}
	slices.SortFunc(list, func(a, b home.Access) int {
		return cmp.Or(cmp.Compare(NameKey(a.Name), NameKey(b.Name)), cmp.Compare(a.LocationID, b.LocationID))
	})
	return pageOf(list, func(a home.Access) string { return a.LocationID }, page)
}
