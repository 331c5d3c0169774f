package inventory

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// NewUnplaced makes the place that every location has from its beginning. Its id and short code come from the location's
// random id, so the database can make it together with the location; attempt counts up while the code is taken.
func NewUnplaced(locationID string, at time.Time, attempt int) *Place {
	sum := sha256.Sum256(fmt.Appendf(nil, "unplaced %s %d", locationID, attempt))
	var id uuid.UUID
	copy(id[:], sum[:16])
	ms := at.UnixMilli()
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return &Place{
		ID: id.String(), LocationID: locationID, ShortCode: codeOf(sum[16:]), Kind: KindUnplaced, Name: UnplacedName,
		NameKey: NameKey(UnplacedName), ChildOrder: OrderCustom, IsUnplaced: true, RowVersion: 1, CreatedAt: at, UpdatedAt: at,
	}
}
