package inventory

import (
	"slices"

	"gatehouse/app/account"
	"gatehouse/app/activity"
)

// findType gives the type that a caller's words mean, the location's own before a built-in one; nil when there is none.
func findType(types []Type, typed string) *Type {
	var found *Type
	for i := range types {
		if t := &types[i]; t.is(typed) && (found == nil || t.LocationID != "") {
			found = t
		}
	}
	return found
}

func typeByID(types []Type, id string) *Type {
	i := slices.IndexFunc(types, func(t Type) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &types[i]
}

// findBrand gives the brand that a caller's words mean; nil when the location knows none.
func (w *write) findBrand(typed string) (*Named, error) {
	id, _ := parseID(typed)
	list, err := w.Brands(w.access.LocationID, []string{id}, []string{NameKey(typed)})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0].Named, nil
}

// tags gives the tags of the names and ids, making those whose names are new; see logTags.
func (w *write) tags(typed []string) (found []Named, made []Catalogued, err error) {
	var ids, keys []string
	for _, s := range typed {
		if id, ok := parseID(s); ok {
			ids = append(ids, id)
		} else {
			keys = append(keys, NameKey(s))
		}
	}
	known, err := w.Tags([]string{w.access.LocationID}, ids, keys)
	if err != nil {
		return nil, nil, err
	}
	for _, s := range typed {
		id, isID := parseID(s)
		i := slices.IndexFunc(known, func(c Catalogued) bool { return isID && c.ID == id || !isID && c.NameKey == NameKey(s) })
		switch {
		case i >= 0:
			found = append(found, known[i].Named)
		case isID:
			return nil, nil, notFound()
		default:
			tag, err := w.makeTag(s)
			if err != nil {
				return nil, nil, err
			}
			made, known, found = append(made, tag), append(known, tag), append(found, tag.Named)
		}
	}
	return distinct(found), made, nil
}

// distinct drops a tag named twice, by id and by name.
func distinct(list []Named) []Named {
	var out []Named
	for _, n := range list {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func (w *write) makeTag(name string) (Catalogued, error) {
	n, err := w.CountTags(w.access.LocationID)
	if err != nil {
		return Catalogued{}, err
	}
	if n >= maxLocationTags {
		return Catalogued{}, limitReached("tags", maxLocationTags)
	}
	id, err := account.NewID(w.now, w.s.rand)
	if err != nil {
		return Catalogued{}, err
	}
	tag := Catalogued{Named: Named{ID: id, Name: name}, LocationID: w.access.LocationID, NameKey: NameKey(name)}
	return tag, w.InsertTag(tag, w.now)
}

// logTags logs new tags as companions of the entry that needed them. They stay when it is undone.
func (w *write) logTags(made []Catalogued, main string) error {
	for _, tag := range made {
		_, err := w.log.Add(activity.Entry{
			Action: "tag.create", SubjectType: activity.Tag, SubjectID: tag.ID, SubjectVersion: 1, CompanionOf: main,
			Changes: []activity.Change{{Field: "name", To: tag.Name}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
