package home

import (
	"context"
	"fmt"
	"time"

	"gatehouse/app/account"
)

// maxLocations is how many locations a person can belong to.
const maxLocations = 100

// Location is the unit of ownership.
type Location struct {
	ID              string
	Name            string
	TimeZone        string
	Currency        string
	Currencies      []string
	ViewerSeesMoney bool
	Require2FA      bool
	ChildOrder      string
	Preset          string
	RowVersion      int64
	CreatedAt       time.Time
}

// Membership is a location from the view of one of its members.
type Membership struct {
	Location
	Role Role
}

// NewLocation is what makes a location.
type NewLocation struct {
	Name     string
	TimeZone string
	// Currency is EUR when empty, Preset household.
	Currency string
	Preset   string
}

// LocationStore keeps locations.
type LocationStore interface {
	// InsertLocation writes a location with its owner and modules in one step, unless the person belongs to limit
	// locations already, which gives ErrTooManyLocations.
	InsertLocation(ctx context.Context, l Location, ownerID string, modules []string, limit int) error
	// LocationsOf lists the locations of a person that are not deleted, in the order of their making.
	LocationsOf(ctx context.Context, userID string) ([]Membership, error)
}

// ErrTooManyLocations says that a person belongs to as many locations as one may.
var ErrTooManyLocations = account.Refuse(account.CodeLimitReached, "", "This person belongs to 100 locations, which is the most.")

// CreateLocation makes a location whose owner is the person.
func (s *Service) CreateLocation(ctx context.Context, ownerID string, n NewLocation) (*Location, error) {
	name, err := account.CleanName("name", n.Name, 80)
	if err != nil {
		return nil, err
	}
	zone, err := account.CheckTimeZone("time_zone", n.TimeZone)
	if err != nil {
		return nil, err
	}
	if n.Currency == "" {
		n.Currency = "EUR"
	}
	currency, err := account.CheckCurrency("currency", n.Currency)
	if err != nil {
		return nil, err
	}
	if n.Preset == "" {
		n.Preset = DefaultPreset
	}
	modules, ok := PresetModules(n.Preset)
	if !ok {
		return nil, account.Refuse(account.CodeValidation, "preset", "must be essentials, household or complete")
	}
	id, err := account.NewID(s.at(), s.rand)
	if err != nil {
		return nil, err
	}
	l := StartLocation(id, name, zone, currency, s.at())
	l.Preset = n.Preset
	if err := s.store.InsertLocation(ctx, l, ownerID, modules, maxLocations); err != nil {
		return nil, fmt.Errorf("create location: %w", err)
	}
	return &l, nil
}

// StartLocation is a location as it is at its beginning, with the default preset.
func StartLocation(id, name, zone, currency string, at time.Time) Location {
	return Location{ID: id, Name: name, TimeZone: zone, Currency: currency, Currencies: []string{currency},
		ChildOrder: "custom", Preset: DefaultPreset, RowVersion: 1, CreatedAt: at}
}

// LocationsOf lists a person's locations with their role.
func (s *Service) LocationsOf(ctx context.Context, userID string) ([]Membership, error) {
	return s.store.LocationsOf(ctx, userID)
}
