package templates

import (
	"context"

	"gatehouse/templates/lang"
)

// nothing says that a list is empty: because of the filter, or at all.
func nothing(ctx context.Context, filtered bool, atAll string) string {
	if filtered {
		return lang.T(ctx, "Nothing matches this filter.")
	}
	return atAll
}
