package inventory

import "encoding/json"

// Patch is a field of a change: absent, null (which clears) or a value.
type Patch[T any] struct {
	Set   bool
	Value *T
}

// UnmarshalJSON notes that the field was there.
func (p *Patch[T]) UnmarshalJSON(b []byte) error {
	p.Set, p.Value = true, nil
	return json.Unmarshal(b, &p.Value)
}

// To is a patch that sets a value.
func To[T any](v T) Patch[T] { return Patch[T]{Set: true, Value: &v} }

// Clear is a patch that removes the value.
func Clear[T any]() Patch[T] { return Patch[T]{Set: true} }

// MoneyInput is an amount as it is sent.
type MoneyInput struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

// NewPlace asks for a place by name; a live one of that name under that parent is taken.
type NewPlace struct {
	Name     string `json:"name"`
	ParentID string `json:"parent_id"`
	Kind     string `json:"kind"`
}

// AddItem is one new thing (KE-58, column add).
type AddItem struct {
	Name        string                     `json:"name"`
	PlaceID     string                     `json:"place_id"`
	ContainerID string                     `json:"container_id"`
	NewPlace    *NewPlace                  `json:"new_place"`
	Quantity    *int                       `json:"quantity"`
	Aliases     []string                   `json:"aliases"`
	Type        *string                    `json:"type"`
	Brand       *string                    `json:"brand"`
	Model       *string                    `json:"model"`
	Serial      *string                    `json:"serial"`
	Notes       *string                    `json:"notes"`
	Condition   *string                    `json:"condition"`
	Tags        []string                   `json:"tags"`
	Custom      map[string]json.RawMessage `json:"custom"`
	IsContainer *bool                      `json:"is_container"`
	AcquiredOn  *string                    `json:"acquired_on"`
	Value       *MoneyInput                `json:"value"`
	Minimum     *int                       `json:"minimum"`
}

// UpdateFields are the fields of a thing that a change may carry (KE-59, column upd). Those that null does not clear are
// plain pointers.
type UpdateFields struct {
	Name        *string                           `json:"name"`
	Quantity    *int                              `json:"quantity"`
	Aliases     Patch[[]string]                   `json:"aliases"`
	Type        Patch[string]                     `json:"type"`
	Brand       Patch[string]                     `json:"brand"`
	Model       Patch[string]                     `json:"model"`
	Serial      Patch[string]                     `json:"serial"`
	Notes       Patch[string]                     `json:"notes"`
	Condition   Patch[string]                     `json:"condition"`
	Tags        Patch[[]string]                   `json:"tags"`
	Custom      Patch[map[string]json.RawMessage] `json:"custom"`
	IsContainer *bool                             `json:"is_container"`
	AcquiredOn  Patch[string]                     `json:"acquired_on"`
	Value       Patch[MoneyInput]                 `json:"value"`
	Minimum     Patch[int]                        `json:"minimum"`
}

// PurchaseInput is how a thing was bought; a field left out stays as it is (KE-64).
type PurchaseInput struct {
	PurchasedOn *string     `json:"purchased_on"`
	Seller      *string     `json:"seller"`
	Reference   *string     `json:"reference"`
	Price       *MoneyInput `json:"price"`
}

// UpdateInput changes one thing. Version, when given, must be the thing's row version.
type UpdateInput struct {
	ThingID  string
	Fields   *UpdateFields
	Purchase *PurchaseInput
	Version  *int
}

// MoveInput moves a thing, or some of it, into a place or a container: exactly one of the two.
type MoveInput struct {
	ThingID       string
	ToPlaceID     string
	ToContainerID string
	Quantity      *int
}

// CreatePlaceInput makes a place; no parent means the top of the location, no kind a room.
type CreatePlaceInput struct {
	Name     string
	Kind     string
	ParentID string
}
