package inventory

import (
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/app/activity"
	"gatehouse/app/home"
)

// SeenEntry is an audit entry as a person may see it.
type SeenEntry struct {
	ID           string
	Action       string
	At           time.Time
	LocationID   string
	LocationName string
	// Sentence says what was done, in parts; Summary is the same in English.
	Sentence Sentence
	Summary  string
	Changes  []SeenChange
	// UndoUntil is until when it can be undone; nil when it cannot, cannot any more, or was undone.
	UndoUntil *time.Time
	// MayUndo says that the person may do so.
	MayUndo bool
	// UndoneAt and UndoneBy say when and by whom it was undone.
	UndoneAt *time.Time
	UndoneBy string
}

// SeenChange is a field that an entry changed, in words. Hidden is set where the reader may not see the values.
type SeenChange struct {
	Field  string
	From   string
	To     string
	Hidden bool
}

// Activity pages through what a connection or token wrote in the principal's locations, the newest first.
func (s *Service) Activity(ctx context.Context, p *home.Principal, through Through, page Paging) (Page[SeenEntry], error) {
	from, limit, err := page.start()
	if err != nil {
		return Page[SeenEntry]{}, err
	}
	var out Page[SeenEntry]
	err = s.read(ctx, p, func(r Reader) error {
		records, err := r.ActivityOf(through, principalLocations(p), from.id, limit+1)
		if err != nil {
			return err
		}
		out = Page[SeenEntry]{More: len(records) > limit}
		records = records[:min(len(records), limit)]
		out.Items, err = seenEntries(r, p, records, s.Now())
		for i, e := range records {
			out.Positions = append(out.Positions, position{skip: from.skip + i + 1, id: e.ID}.String())
		}
		return err
	})
	return out, err
}

// SeenEntries gives the entries of the ids that the principal may see, by id.
func (s *Service) SeenEntries(ctx context.Context, p *home.Principal, ids []string) (map[string]SeenEntry, error) {
	out := map[string]SeenEntry{}
	err := s.read(ctx, p, func(r Reader) error {
		records, err := r.Entries(ids)
		if err != nil {
			return err
		}
		records = slices.DeleteFunc(records, func(e activity.Record) bool { return !home.Can(p.At(e.LocationID), home.ContentView) })
		seen, err := seenEntries(r, p, records, s.Now())
		for _, e := range seen {
			out[e.ID] = e
		}
		return err
	})
	return out, err
}

// seenEntries puts entries into words for the principal.
func seenEntries(r Reader, p *home.Principal, records []activity.Record, now time.Time) ([]SeenEntry, error) {
	w, err := wordsFor(r, records)
	if err != nil {
		return nil, err
	}
	out := make([]SeenEntry, 0, len(records))
	for _, rec := range records {
		a := p.At(rec.LocationID)
		e := SeenEntry{
			ID: rec.ID, Action: rec.Action, At: rec.At, LocationID: rec.LocationID, LocationName: a.Name,
			Sentence: w.sentence(rec), Changes: w.changes(rec, a),
		}
		e.Summary = e.Sentence.String()
		switch undo, done := w.undos[rec.UndoneBy]; {
		case done:
			e.UndoneAt, e.UndoneBy = &undo.At, w.people[undo.Actor.UserID]
		case rec.UndoneBy == "" && undoable(rec) && now.Before(*rec.UndoUntil):
			e.UndoUntil, e.MayUndo = rec.UndoUntil, mayUndo(p, rec)
		}
		out = append(out, e)
	}
	return out, nil
}

// entryWords are the names that entries need.
type entryWords struct {
	subjects map[string]string
	people   map[string]string
	undos    map[string]activity.Record
}

func wordsFor(r Reader, records []activity.Record) (*entryWords, error) {
	var subjects, undoIDs, people []string
	for _, rec := range records {
		subjects = append(subjects, rec.SubjectID)
		for _, c := range rec.Changes {
			if !isHolder(c.Field) {
				continue
			}
			for _, v := range []any{c.From, c.To} {
				if id, ok := v.(string); ok {
					subjects = append(subjects, id)
				}
			}
		}
		if rec.UndoneBy != "" {
			undoIDs = append(undoIDs, rec.UndoneBy)
		}
	}
	w := &entryWords{undos: map[string]activity.Record{}}
	undos, err := r.Entries(undoIDs)
	if err != nil {
		return nil, err
	}
	for _, u := range undos {
		w.undos[u.ID] = u
		people = append(people, u.Actor.UserID)
	}
	if w.subjects, err = r.SubjectNames(distinctTexts(subjects)); err != nil {
		return nil, err
	}
	w.people, err = r.PersonNames(distinctTexts(people))
	return w, err
}

func distinctTexts(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// isHolder: the fields that hold the id of a place or container.
func isHolder(field string) bool {
	return field == "place_id" || field == "container_id" || field == "parent_id"
}

// hidden reports whether the reader may not see a field's values (KE-63): neither of a module that is off, nor any
// without the right to see values in a history.
func hidden(field string, a *home.Access) bool {
	switch {
	case !home.Can(a, home.AuditValues):
		return true
	case field == "value" || strings.HasPrefix(field, "purchase."):
		return !seesMoney(a)
	case field == "minimum":
		return !a.HasModule(home.ModuleConsumables)
	}
	return false
}
