package inventory

// Weights of the fields in which words are looked up. The short code counts for a whole query alone and is not indexed.
const (
	weightCode   = 100
	weightName   = 8
	weightAlias  = 6
	weightBrand  = 4
	weightModel  = 4
	weightSerial = 4
	weightType   = 3
	weightTag    = 3
	weightPath   = 2
	weightNotes  = 1
	weightCustom = 1
)

// weightAlone is the least weight of a field that can lead to a thing without another's help.
const weightAlone = weightType

// thingTokens gives the tokens under which a thing is found, each with the weight of the best field it occurs in. Money,
// secrets, people and documents are not among them.
func thingTokens(t *Thing, path []string) map[string]int {
	out := map[string]int{}
	add := func(weight int, texts ...string) {
		for _, text := range texts {
			for _, token := range indexTokens(text) {
				out[token] = max(out[token], weight)
			}
		}
	}
	add(weightName, t.Name)
	add(weightAlias, t.Aliases...)
	add(weightBrand, nameOf(t.Brand))
	add(weightModel, t.Model)
	add(weightSerial, t.Serial)
	add(weightType, nameOf(t.Type))
	add(weightTag, namesOf(t.Tags)...)
	add(weightPath, path...)
	add(weightNotes, t.Notes)
	for _, v := range t.Custom {
		if text, ok := v.(string); ok {
			add(weightCustom, text)
		}
	}
	return out
}

// index makes the things, as they are stored now, findable under their present words.
func (w *write) index(ids ...string) error {
	things, err := w.Things(ids)
	if err != nil {
		return err
	}
	list := make([]*Thing, 0, len(ids))
	for _, id := range ids {
		if things[id] != nil {
			list = append(list, things[id])
		}
	}
	where, err := whereabouts(w, list)
	if err != nil {
		return err
	}
	for _, t := range list {
		if err := w.IndexThing(t.LocationID, t.ID, thingTokens(t, where.path(t))); err != nil {
			return err
		}
	}
	return nil
}

// indexWithContents is index for a thing and all that is inside it, whose paths lead through it.
func (w *write) indexWithContents(t *Thing) error {
	ids := []string{t.ID}
	if t.IsContainer {
		below, err := w.ThingsBelow(t.ID)
		if err != nil {
			return err
		}
		for _, b := range below {
			ids = append(ids, b.ID)
		}
	}
	for len(ids) > 0 {
		n := min(len(ids), 200)
		if err := w.index(ids[:n]...); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}
