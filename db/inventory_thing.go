package db

import (
	"fmt"

	"gatehouse/app/activity"
	"gatehouse/app/inventory"
)

type thingRow struct {
	ID            string `gorm:"primaryKey"`
	LocationID    string
	ShortCode     string
	Name          string
	NameKey       string
	PlaceID       *string
	ContainerID   *string
	Quantity      int
	TypeID        *string
	BrandID       *string
	Model         string
	Serial        string
	Notes         string
	Condition     *string
	Custom        jsonText
	IsContainer   bool
	AcquiredOn    dateColumn
	ValueAmount   *int64
	ValueCurrency *string
	Minimum       *int
	Lifecycle     string
	LastSeenAt    *Timestamp
	PlacedAt      Timestamp
	SplitFromID   *string
	CreatedBy     *string
	RowVersion    int
	CreatedAt     Timestamp
	UpdatedAt     Timestamp
}

func (thingRow) TableName() string { return "things" }

func thingRowOf(t *inventory.Thing) (thingRow, error) {
	custom, err := customText(t.Custom)
	row := thingRow{
		ID: t.ID, LocationID: t.LocationID, ShortCode: t.ShortCode, Name: t.Name, NameKey: t.NameKey,
		PlaceID: nullable(t.PlaceID), ContainerID: nullable(t.ContainerID), Quantity: t.Quantity, Model: t.Model,
		Serial: t.Serial, Notes: t.Notes, Condition: nullable(t.Condition), Custom: custom, IsContainer: t.IsContainer,
		AcquiredOn: dateColumn(t.AcquiredOn), Minimum: t.Minimum, Lifecycle: t.Lifecycle, LastSeenAt: atPtr(t.LastSeenAt),
		PlacedAt: at(t.PlacedAt), SplitFromID: nullable(t.SplitFromID), CreatedBy: nullable(t.CreatedBy),
		RowVersion: t.RowVersion, CreatedAt: at(t.CreatedAt), UpdatedAt: at(t.UpdatedAt),
	}
	if t.Type != nil {
		row.TypeID = &t.Type.ID
	}
	if t.Brand != nil {
		row.BrandID = &t.Brand.ID
	}
	row.ValueAmount, row.ValueCurrency = moneyColumns(t.Value)
	return row, err
}

func moneyColumns(m *inventory.Money) (*int64, *string) {
	if m == nil {
		return nil, nil
	}
	return &m.Parts, &m.Currency
}

func moneyOf(amount *int64, currency *string) *inventory.Money {
	if amount == nil || currency == nil {
		return nil
	}
	return &inventory.Money{Parts: *amount, Currency: *currency}
}

// thing gives the domain's thing; type, brand, tags and aliases are filled in by complete.
func (r *thingRow) thing() (*inventory.Thing, error) {
	custom, err := customOf(r.Custom)
	t := &inventory.Thing{
		ID: r.ID, LocationID: r.LocationID, ShortCode: r.ShortCode, Name: r.Name, NameKey: r.NameKey,
		PlaceID: deref(r.PlaceID), ContainerID: deref(r.ContainerID), Quantity: r.Quantity, Model: r.Model,
		Serial: r.Serial, Notes: r.Notes, Condition: deref(r.Condition), Custom: custom, IsContainer: r.IsContainer,
		AcquiredOn: string(r.AcquiredOn), Value: moneyOf(r.ValueAmount, r.ValueCurrency), Minimum: r.Minimum,
		Lifecycle: r.Lifecycle, LastSeenAt: r.LastSeenAt.ptr(), PlacedAt: r.PlacedAt.T, SplitFromID: deref(r.SplitFromID),
		CreatedBy: deref(r.CreatedBy), RowVersion: r.RowVersion, CreatedAt: r.CreatedAt.T, UpdatedAt: r.UpdatedAt.T,
	}
	if r.TypeID != nil {
		t.Type = &inventory.Named{ID: *r.TypeID}
	}
	if r.BrandID != nil {
		t.Brand = &inventory.Named{ID: *r.BrandID}
	}
	return t, err
}

// FindSubject gives the live thing or place of an id or code in one of the locations.
func (t *inventoryTx) FindSubject(ref inventory.Ref, locations []string) (inventory.Subject, error) {
	locations = onlyIDs(locations)
	if len(locations) == 0 || ref == (inventory.Ref{}) || ref.ID != "" && !isID(ref.ID) {
		return inventory.Subject{}, inventory.ErrNotFound
	}
	key, value := "id", ref.ID
	if ref.Code != "" {
		var found []string
		if err := t.g.Table("short_codes").Where("code = ? AND subject_id IS NOT NULL", ref.Code).Pluck("subject_id", &found).Error; err != nil {
			return inventory.Subject{}, fmt.Errorf("read short code: %w", err)
		}
		if len(found) == 0 {
			return inventory.Subject{}, inventory.ErrNotFound
		}
		value = found[0]
	}
	var rows []inventory.Subject
	err := t.g.Raw(`SELECT '`+activity.Thing+`' AS type, id, location_id FROM things WHERE `+key+` = ? AND location_id IN ? AND `+liveThing+`
		UNION ALL SELECT '`+activity.Place+`' AS type, id, location_id FROM places WHERE `+key+` = ? AND location_id IN ? AND `+livePlace,
		value, locations, value, locations).Scan(&rows).Error
	if err != nil {
		return inventory.Subject{}, fmt.Errorf("find subject: %w", err)
	}
	if len(rows) == 0 {
		return inventory.Subject{}, inventory.ErrNotFound
	}
	return rows[0], nil
}

// Things gives live things with all that belongs to them.
func (t *inventoryTx) Things(ids []string) (map[string]*inventory.Thing, error) {
	out := map[string]*inventory.Thing{}
	if ids = onlyIDs(ids); len(ids) == 0 {
		return out, nil
	}
	var rows []thingRow
	if err := t.g.Where("id IN ?", ids).Where(liveThing).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read things: %w", err)
	}
	list, err := t.complete(rows)
	for _, thing := range list {
		out[thing.ID] = thing
	}
	return out, err
}

// ThingsIn gives up to limit things directly in the holder, by name.
func (t *inventoryTx) ThingsIn(h inventory.Holder, limit int) ([]*inventory.Thing, error) {
	g := t.g.Where(liveThing)
	if h.PlaceID != "" {
		g = g.Where("place_id = ?", h.PlaceID)
	} else {
		g = g.Where("container_id = ?", h.ContainerID)
	}
	var rows []thingRow
	if err := g.Order("name_key, id").Limit(limit).Find(&rows).Error; err != nil {
		return nil, fmt.Errorf("read things: %w", err)
	}
	return t.complete(rows)
}

// complete fills in names of types and brands, aliases and tags.
func (t *inventoryTx) complete(rows []thingRow) ([]*inventory.Thing, error) {
	list := make([]*inventory.Thing, len(rows))
	byID := map[string]*inventory.Thing{}
	var err error
	for i := range rows {
		if list[i], err = rows[i].thing(); err != nil {
			return nil, err
		}
		byID[list[i].ID] = list[i]
	}
	if len(list) == 0 {
		return list, nil
	}
	ids := make([]string, 0, len(list))
	for id := range byID {
		ids = append(ids, id)
	}
	ids = padded(ids)
	if err := t.addNames(list); err != nil {
		return nil, err
	}
	if err := t.addAliases(byID, ids); err != nil {
		return nil, err
	}
	return list, t.addTags(byID, ids)
}

// addNames fills in the names of types and brands, which share one statement.
func (t *inventoryTx) addNames(list []*inventory.Thing) error {
	var typeIDs, brandIDs []string
	for _, thing := range list {
		if thing.Type != nil {
			typeIDs = append(typeIDs, thing.Type.ID)
		}
		if thing.Brand != nil {
			brandIDs = append(brandIDs, thing.Brand.ID)
		}
	}
	if len(typeIDs)+len(brandIDs) == 0 {
		return nil
	}
	var rows []inventory.Named
	err := t.g.Raw(`SELECT id, name FROM types WHERE id IN ? UNION ALL SELECT id, name FROM brands WHERE id IN ?`,
		padded(typeIDs), padded(brandIDs)).Scan(&rows).Error
	if err != nil {
		return fmt.Errorf("read types and brands: %w", err)
	}
	names := map[string]string{}
	for _, r := range rows {
		names[r.ID] = r.Name
	}
	for _, thing := range list {
		if thing.Type != nil {
			thing.Type.Name = names[thing.Type.ID]
		}
		if thing.Brand != nil {
			thing.Brand.Name = names[thing.Brand.ID]
		}
	}
	return nil
}

func (t *inventoryTx) addAliases(byID map[string]*inventory.Thing, ids []string) error {
	var rows []aliasRow
	if err := t.g.Where("thing_id IN ?", ids).Order("thing_id, position").Find(&rows).Error; err != nil {
		return fmt.Errorf("read aliases: %w", err)
	}
	for _, r := range rows {
		byID[r.ThingID].Aliases = append(byID[r.ThingID].Aliases, r.Alias)
	}
	return nil
}

func (t *inventoryTx) addTags(byID map[string]*inventory.Thing, ids []string) error {
	var rows []struct{ ThingID, ID, Name string }
	err := t.g.Raw(`SELECT tt.thing_id, g.id, g.name FROM thing_tags tt JOIN tags g ON g.id = tt.tag_id
		WHERE tt.thing_id IN ? ORDER BY g.name_key, g.id`, ids).Scan(&rows).Error
	if err != nil {
		return fmt.Errorf("read tags: %w", err)
	}
	for _, r := range rows {
		byID[r.ThingID].Tags = append(byID[r.ThingID].Tags, inventory.Named{ID: r.ID, Name: r.Name})
	}
	return nil
}

// ThingsBelow gives all that is inside a container, at whatever depth.
func (t *inventoryTx) ThingsBelow(containerID string) ([]inventory.Below, error) {
	var rows []inventory.Below
	err := t.g.Raw(`WITH RECURSIVE below (id, depth) AS (
		SELECT id, 1 FROM things WHERE container_id = ? AND `+liveThing+`
		UNION ALL
		SELECT t.id, below.depth + 1 FROM things t JOIN below ON t.container_id = below.id
			WHERE t.trashed_at IS NULL AND below.depth < 16
	) SELECT id, depth FROM below`, containerID).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read things inside: %w", err)
	}
	return rows, nil
}
