package db

import (
	"fmt"
	"strings"

	"gorm.io/gorm"

	"gatehouse/app/inventory"
)

// The words of a search are looked up in a plain table of tokens that the program makes, by the same statements on both
// databases. Their own text search splits words by rules of its own; this way both find exactly the same.

type searchTokenRow struct {
	LocationID string `gorm:"primaryKey"`
	Token      string `gorm:"primaryKey"`
	ThingID    string `gorm:"primaryKey"`
	Weight     int
}

func (searchTokenRow) TableName() string { return "search_tokens" }

// IndexThing replaces the tokens under which a thing is found.
func (t *inventoryTx) IndexThing(locationID, thingID string, tokens map[string]int) error {
	if err := t.g.Where("thing_id = ?", thingID).Delete(&searchTokenRow{}).Error; err != nil {
		return fmt.Errorf("index thing: %w", err)
	}
	rows := make([]searchTokenRow, 0, len(tokens))
	for token, weight := range tokens {
		rows = append(rows, searchTokenRow{LocationID: locationID, Token: token, ThingID: thingID, Weight: weight})
	}
	if len(rows) == 0 {
		return nil
	}
	if err := t.g.CreateInBatches(rows, 500).Error; err != nil {
		return fmt.Errorf("index thing: %w", err)
	}
	return nil
}

// lastSign is greater than every sign a token holds, so a word and the word with it enclose all that begin with the word.
const lastSign = "\U0010FFFF"

// tokenIs is the condition on tokens that a word matches. It reads the same for both kinds of word, so that few different
// statements are prepared.
const tokenIs = "token BETWEEN ? AND ?"

func tokenBounds(w inventory.Word) []any {
	if w.Prefix {
		return []any{w.Text, w.Text + lastSign}
	}
	return []any{w.Text, w.Text}
}

// filtered gives the live things that pass a filter.
func (t *inventoryTx) filtered(f inventory.Filter) (*gorm.DB, error) {
	g := t.g.Table("things").Where("location_id IN ?", onlyIDs(f.Locations)).Where(liveThing)
	if f.TypeIDs != nil {
		g = g.Where("type_id IN ?", onlyIDs(f.TypeIDs))
	}
	if f.TagIDs != nil {
		g = g.Where("id IN (SELECT thing_id FROM thing_tags WHERE tag_id IN ?)", onlyIDs(f.TagIDs))
	}
	if f.PlaceID != "" {
		h, err := t.below(f.Locations, func(r holderRow) bool { return r.ID == f.PlaceID })
		if err != nil {
			return nil, err
		}
		g = g.Where(t.within(h))
	}
	if f.Lifecycle != "" {
		g = g.Where("lifecycle = ?", f.Lifecycle)
		if f.Lifecycle != inventory.LifecycleInUse {
			g = g.Where(ended)
		}
	}
	return t.inState(g, f)
}

// ended repeats the condition of the index on the few things that are no longer in use.
const ended = "lifecycle <> '" + inventory.LifecycleInUse + "'"

func (t *inventoryTx) inState(g *gorm.DB, f inventory.Filter) (*gorm.DB, error) {
	switch f.State {
	case "":
		return g, nil
	case inventory.StateEnded:
		return g.Where(ended), nil
	case inventory.StateLowStock:
		return g.Where("minimum IS NOT NULL AND quantity <= minimum AND location_id IN ?", onlyIDs(f.StockLocations)), nil
	case inventory.StateUncertain:
		h, err := t.unplaced(f.Locations)
		if err != nil {
			return nil, err
		}
		since := at(f.ConfirmedSince)
		return g.Where(t.within(h).Or("placed_at < ? AND created_at < ? AND (last_seen_at IS NULL OR last_seen_at < ?)", since, since, since)), nil
	default:
		return g.Where("1 = 0"), nil // no loan and no claim can put a thing into the other states
	}
}

// ListThings gives the ids of things that pass the filter, by name key and id.
func (t *inventoryTx) ListThings(f inventory.Filter, after string, skip, limit int) ([]string, error) {
	g, err := t.filtered(f)
	if err != nil {
		return nil, err
	}
	var keys []string
	if isID(after) {
		if err := t.g.Table("things").Where("id = ?", after).Pluck("name_key", &keys).Error; err != nil {
			return nil, fmt.Errorf("list things: %w", err)
		}
	}
	if len(keys) == 1 {
		g = g.Where("(name_key > ? OR name_key = ? AND id > ?)", keys[0], keys[0], after)
	} else {
		g = g.Offset(skip)
	}
	var ids []string
	if err := g.Order("name_key, id").Limit(limit).Pluck("id", &ids).Error; err != nil {
		return nil, fmt.Errorf("list things: %w", err)
	}
	return ids, nil
}

// Passes reports whether one thing passes the filter.
func (t *inventoryTx) Passes(f inventory.Filter, thingID string) (bool, error) {
	g, err := t.filtered(f)
	if err != nil {
		return false, err
	}
	var n int64
	if err := g.Where("id = ?", thingID).Count(&n).Error; err != nil {
		return false, fmt.Errorf("filter thing: %w", err)
	}
	return n == 1, nil
}

// broadWord is how many hits make a word broad. What has a broad word is found soonest by walking a location's things by
// name until there are enough; what has a rarer one by looking at its hits alone.
const broadWord = 10_000

const (
	hasWord = "EXISTS (SELECT 1 FROM search_tokens t WHERE t.thing_id = things.id AND t." + tokenIs + ")"
	wordIn  = "search_tokens WHERE location_id IN ? AND " + tokenIs
)

// matching keeps what has all words.
func (t *inventoryTx) matching(g *gorm.DB, f inventory.Filter, words []inventory.Word) (*gorm.DB, error) {
	rarest, err := t.rarest(f, words)
	if err != nil {
		return nil, err
	}
	locations := onlyIDs(f.Locations)
	for i, w := range words {
		within := append([]any{locations}, tokenBounds(w)...)
		switch {
		case i == rarest: // a cross join keeps its order on SQLite, which knows no better without statistics
			g = g.Table("(SELECT DISTINCT thing_id AS hit FROM "+wordIn+") AS hits CROSS JOIN things", within...).Where("things.id = hits.hit")
		case rarest < 0 && len(locations) > 1: // no index has the things of several locations by name: all are looked at
			g = g.Where("id IN (SELECT thing_id FROM "+wordIn+")", within...)
		default:
			g = g.Where(hasWord, tokenBounds(w)...)
		}
	}
	return g, nil
}

// rarest gives the index of the word with the fewest hits, or -1 when all are broad. No more hits are counted than decide it.
func (t *inventoryTx) rarest(f inventory.Filter, words []inventory.Word) (int, error) {
	found, fewest := -1, t.broadWord
	for i, w := range words {
		var n int64
		err := t.g.Raw("SELECT count(*) FROM (SELECT 1 FROM "+wordIn+" LIMIT ?) AS hits",
			append(append([]any{onlyIDs(f.Locations)}, tokenBounds(w)...), fewest)...).Scan(&n).Error
		if err != nil {
			return 0, fmt.Errorf("count hits: %w", err)
		}
		if n < fewest {
			found, fewest = i, n
		}
	}
	return found, nil
}

// matchRow is what is read of a thing that has the words.
type matchRow struct {
	ID, NameKey, Lifecycle string
	PlaceID, ContainerID   *string
	PlacedAt, CreatedAt    Timestamp
	LastSeenAt             *Timestamp
}

// MatchThings gives up to limit things that pass the filter and have all words, by name key and id.
func (t *inventoryTx) MatchThings(f inventory.Filter, words []inventory.Word, queryKey string, limit int) ([]inventory.Candidate, error) {
	g, err := t.filtered(f)
	if err != nil {
		return nil, err
	}
	if g, err = t.matching(g, f, words); err != nil {
		return nil, err
	}
	var rows []matchRow
	err = g.Select("id, name_key, lifecycle, last_seen_at, place_id, container_id, placed_at, created_at").
		Order("name_key, id").Limit(limit).Find(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("search things: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	out := make([]inventory.Candidate, len(rows))
	byID := map[string]*inventory.Candidate{}
	for i, r := range rows {
		out[i] = inventory.Candidate{ID: r.ID, NameKey: r.NameKey, Lifecycle: r.Lifecycle, LastSeenAt: r.LastSeenAt.ptr()}
		byID[r.ID] = &out[i]
	}
	if err := t.score(byID, words, queryKey); err != nil {
		return nil, err
	}
	return out, t.markUncertain(f, rows, byID)
}

// score fills in what the candidates' scores are made of.
func (t *inventoryTx) score(byID map[string]*inventory.Candidate, words []inventory.Word, queryKey string) error {
	ids := make([]string, 0, len(byID))
	for id := range byID {
		ids = append(ids, id)
	}
	ids = padded(ids)
	var conds []string
	args := []any{ids}
	for _, w := range words {
		conds = append(conds, tokenIs)
		args = append(args, tokenBounds(w)...)
	}
	var hits []searchTokenRow
	err := t.g.Select("thing_id, token, weight").Where("thing_id IN ? AND ("+strings.Join(conds, " OR ")+")", args...).Find(&hits).Error
	if err != nil {
		return fmt.Errorf("search things: %w", err)
	}
	for _, h := range hits {
		byID[h.ThingID].Hits = append(byID[h.ThingID].Hits, inventory.Hit{Token: h.Token, Weight: h.Weight})
	}
	var equal []string
	if err := t.g.Table("thing_aliases").Where("thing_id IN ? AND alias_key = ?", ids, queryKey).Pluck("thing_id", &equal).Error; err != nil {
		return fmt.Errorf("search aliases: %w", err)
	}
	for _, id := range equal {
		byID[id].AliasEqual = true
	}
	return nil
}
