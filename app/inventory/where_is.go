package inventory

import (
	"cmp"
	"context"
	"slices"

	"gatehouse/app/home"
)

// whereHits is how many answers where_is gives.
const whereHits = 5

// WhereIs finds at most five things the words may mean, best first (KE-23). A query that reads as the code of a thing
// gives that thing alone.
func (s *Service) WhereIs(ctx context.Context, p *home.Principal, at At, query string) ([]WhereHit, error) {
	query, err := cleanQuery(query, 1)
	if err != nil {
		return nil, err
	}
	var out []WhereHit
	err = s.read(ctx, p, func(r Reader) error {
		open, err := at.locateAll(p, home.ContentView, "")
		if err != nil {
			return err
		}
		found, err := whereFound(r, s.over(open), query)
		if err != nil {
			return err
		}
		hits, err := s.hits(r, p, found)
		out = make([]WhereHit, len(hits))
		for i, h := range hits {
			out[i] = WhereHit{ThingSummary: h.ThingSummary, Uncertain: slices.Contains(h.States, StateUncertain)}
		}
		return err
	})
	return out, err
}

func whereFound(r Reader, f Filter, query string) ([]scored, error) {
	t, err := codeThing(r, f, query)
	if err != nil {
		return nil, err
	}
	if t != nil {
		return []scored{{Candidate: Candidate{ID: t.ID}}}, nil
	}
	found, _, err := candidates(r, f, query)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(c scored) bool { return !c.pointsAtThing() })
	slices.SortFunc(found, func(a, b scored) int {
		certain := 0
		if a.Uncertain != b.Uncertain {
			certain = boolOrder(a.Uncertain)
		}
		return cmp.Or(cmp.Compare(b.score, a.score), certain, a.tie(&b.Candidate))
	})
	return found[:min(whereHits, len(found))], nil
}

// pointsAtThing reports whether some word hit what the thing is, not only where it is or what is noted about it.
func (c *Candidate) pointsAtThing() bool {
	return slices.ContainsFunc(c.Hits, func(h Hit) bool { return h.Weight >= weightAlone })
}
