package inventory

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// maxCandidates is how many matching things are scored.
const maxCandidates = 1000

// SearchThings finds things by words and filters (KE-22).
func (s *Service) SearchThings(ctx context.Context, p *home.Principal, at At, in SearchInput) (SearchResult, error) {
	query, err := cleanQuery(in.Query, 0)
	if err != nil {
		return SearchResult{}, err
	}
	var out SearchResult
	err = s.read(ctx, p, func(r Reader) error {
		f, err := s.filter(r, p, at, in)
		if err != nil {
			return err
		}
		if query == "" {
			out, err = s.list(r, p, f, in.Paging)
		} else {
			out, err = s.search(r, p, f, query, in.Paging)
		}
		return err
	})
	return out, err
}

// cleanQuery tidies a query of least to 200 characters.
func cleanQuery(typed string, least int) (string, error) {
	query, problem := cleanText(typed)
	if n := utf8.RuneCountInString(query); problem == "" && (n < least || n > 200) {
		problem = "must be at most 200 characters"
		if least > 0 {
			problem = "must be 1 to 200 characters"
		}
	}
	if problem != "" {
		return "", invalid("query", problem)
	}
	return query, nil
}

// filter finds the locations of a search and turns its filters into rows.
func (s *Service) filter(r Reader, p *home.Principal, at At, in SearchInput) (Filter, error) {
	if err := checkFilters(in); err != nil {
		return Filter{}, err
	}
	if len(at.open(p, home.ContentView)) == 0 {
		return Filter{}, at.refusal()
	}
	var place Subject
	var err error
	if in.PlaceID != "" {
		if place, err = find(r, p, in.PlaceID, activity.Place, "filters.place_id"); err != nil {
			return Filter{}, err
		}
	}
	open, err := at.locateAll(p, home.ContentView, place.LocationID)
	if err != nil {
		return Filter{}, err
	}
	f := s.over(open)
	f.PlaceID = place.ID
	if err := setStatus(&f, in.Status); err != nil {
		return Filter{}, err
	}
	return f, setCatalogue(r, &f, in)
}

func checkFilters(in SearchInput) error {
	var bad problems
	if in.Type != "" {
		bad.name("filters.type", in.Type, 120)
	}
	if in.Tag != "" {
		bad.name("filters.tag", in.Tag, 80)
	}
	return bad.err()
}

// over is the filter that only names locations.
func (s *Service) over(open []*home.Access) Filter {
	f := Filter{ConfirmedSince: s.Now().Add(-uncertainAfter)}
	for _, a := range open {
		f.Locations = append(f.Locations, a.LocationID)
		if a.HasModule(home.ModuleConsumables) {
			f.StockLocations = append(f.StockLocations, a.LocationID)
		}
	}
	return f
}

func setStatus(f *Filter, status string) error {
	switch {
	case status == "":
	case slices.Contains(lifecycles, status):
		f.Lifecycle = status
	case slices.Contains(states, status):
		f.State = status
	default:
		return invalid("filters.status", "must be one of "+strings.Join(slices.Concat(lifecycles, states), ", "))
	}
	return nil
}

// setCatalogue looks up the type and the tag by name or id. One that no location knows matches nothing.
func setCatalogue(r Reader, f *Filter, in SearchInput) error {
	if in.Type != "" {
		types, err := r.Types(f.Locations)
		if err != nil {
			return err
		}
		f.TypeIDs = []string{}
		for _, t := range types {
			if t.is(in.Type) {
				f.TypeIDs = append(f.TypeIDs, t.ID)
			}
		}
	}
	if in.Tag == "" {
		return nil
	}
	id, _ := parseID(in.Tag)
	tags, err := r.Tags(f.Locations, []string{id}, []string{NameKey(in.Tag)})
	f.TagIDs = []string{}
	for _, t := range tags {
		f.TagIDs = append(f.TagIDs, t.ID)
	}
	return err
}

// is reports whether a caller's words mean the type: its id, its name, or the key of a built-in one.
func (t *Type) is(typed string) bool {
	id, ok := parseID(typed)
	key := NameKey(typed)
	return ok && id == t.ID || key == t.NameKey || t.LocationID == "" && key == t.Key
}

// list is the search without words: what passes the filters, by name.
func (s *Service) list(r Reader, p *home.Principal, f Filter, page Paging) (SearchResult, error) {
	from, limit, err := page.start()
	if err != nil {
		return SearchResult{}, err
	}
	ids, err := r.ListThings(f, from.id, from.skip, limit+1)
	if err != nil {
		return SearchResult{}, err
	}
	n := min(limit, len(ids))
	found := make([]scored, n)
	for i := range n {
		found[i] = scored{Candidate: Candidate{ID: ids[i]}, matchedBy: MatchedByKeyword}
	}
	hits, err := s.hits(r, p, found)
	return SearchResult{Page: Page[SearchHit]{Items: hits, Positions: positions(hits, hitID, from.skip), More: len(ids) > limit}}, err
}

func hitID(h SearchHit) string { return h.ID }

// search is the search with words.
func (s *Service) search(r Reader, p *home.Principal, f Filter, query string, page Paging) (SearchResult, error) {
	found, more, err := candidates(r, f, query)
	if err != nil {
		return SearchResult{}, err
	}
	if found, err = withCode(r, f, query, found); err != nil {
		return SearchResult{}, err
	}
	slices.SortFunc(found, byScore)
	cut, err := pageOf(found, func(c scored) string { return c.ID }, page)
	if err != nil {
		return SearchResult{}, err
	}
	hits, err := s.hits(r, p, cut.Items)
	return SearchResult{Page: Page[SearchHit]{Items: hits, Positions: cut.Positions, More: cut.More}, Incomplete: more}, err
}

// scored is a candidate with its score in twentieths.
type scored struct {
	Candidate
	score     int
	matchedBy string
}

// candidates scores what has all words of the query. more says that there were too many.
func candidates(r Reader, f Filter, query string) (found []scored, more bool, err error) {
	words := queryWords(query)
	if len(words) == 0 {
		return nil, false, nil
	}
	key := NameKey(query)
	list, err := r.MatchThings(f, words, key, maxCandidates+1)
	if err != nil {
		return nil, false, err
	}
	if more = len(list) > maxCandidates; more {
		list = list[:maxCandidates]
	}
	for _, c := range list {
		found = append(found, scored{Candidate: c, score: c.score(words, key), matchedBy: MatchedByKeyword})
	}
	return found, more, nil
}

// score adds up the best field of each word, whole or as a beginning, and what the whole query says. It counts in
// twentieths, so that six tenths and halves stay whole numbers.
func (c *Candidate) score(words []Word, queryKey string) int {
	tenths := 0
	for _, w := range words {
		best := 0
		for _, h := range c.Hits {
			switch {
			case h.Token == w.Text:
				best = max(best, 10*h.Weight)
			case w.Prefix && strings.HasPrefix(h.Token, w.Text):
				best = max(best, 6*h.Weight)
			}
		}
		tenths += best
	}
	if c.NameKey == queryKey || c.AliasEqual {
		tenths += 100
	}
	if strings.HasPrefix(c.NameKey, queryKey) {
		tenths += 40
	}
	return c.halved(tenths)
}

func (c *Candidate) halved(tenths int) int {
	if c.Lifecycle == LifecycleInUse {
		return 2 * tenths
	}
	return tenths
}

// withCode adds the thing whose short code or id is the whole query.
func withCode(r Reader, f Filter, query string, found []scored) ([]scored, error) {
	t, err := codeThing(r, f, query)
	if t == nil || err != nil {
		return found, err
	}
	passes, err := r.Passes(f, t.ID)
	if !passes || err != nil {
		return found, err
	}
	c := Candidate{ID: t.ID, NameKey: t.NameKey, Lifecycle: t.Lifecycle, LastSeenAt: t.LastSeenAt}
	found = slices.DeleteFunc(found, func(o scored) bool { return o.ID == t.ID })
	return append(found, scored{Candidate: c, score: c.halved(10 * weightCode), matchedBy: MatchedByCode}), nil
}

// codeThing gives the live thing whose code or id the query reads as, or nil.
func codeThing(r Reader, f Filter, query string) (*Thing, error) {
	ref, ok := ParseRef(query)
	if !ok {
		return nil, nil
	}
	sub, err := r.FindSubject(ref, f.Locations)
	if errors.Is(err, ErrNotFound) || err == nil && sub.Type != activity.Thing {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	things, err := r.Things([]string{sub.ID})
	return things[sub.ID], err
}

func byScore(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), a.tie(&b.Candidate)) }

// tie orders equal scores: seen later first, never seen last, then by name.
func (c *Candidate) tie(o *Candidate) int {
	return cmp.Or(o.seen().Compare(c.seen()), cmp.Compare(c.NameKey, o.NameKey), cmp.Compare(c.ID, o.ID))
}

func (c *Candidate) seen() time.Time {
	if c.LastSeenAt == nil {
		return time.Time{}
	}
	return *c.LastSeenAt
}

// hits reads the found things.
func (s *Service) hits(r Reader, p *home.Principal, found []scored) ([]SearchHit, error) {
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.ID
	}
	things, err := r.Things(ids)
	if err != nil {
		return nil, err
	}
	where, err := whereabouts(r, values(things))
	if err != nil {
		return nil, err
	}
	out := make([]SearchHit, len(found))
	for i, c := range found {
		t := things[c.ID]
		out[i] = SearchHit{ThingSummary: where.summary(t, p.At(t.LocationID), s.Now()), MatchedBy: c.matchedBy}
	}
	return out, nil
}
