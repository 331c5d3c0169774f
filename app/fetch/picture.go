package fetch

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"slices"
)

// maxPicture bounds a logo, in bytes.
const maxPicture = 256 * 1024

// pictureTypes are the formats of logos. SVG is none: it is a program.
var pictureTypes = []string{"image/png", "image/jpeg", "image/webp"}

// FetchPicture fetches a PNG, JPEG or WebP picture of up to 256 KB. Everything but status 200 with such a type is an
// error.
func (c *Client) FetchPicture(ctx context.Context, rawURL string) ([]byte, error) {
	answer, err := c.get(ctx, rawURL, "", "image/png, image/jpeg, image/webp", maxPicture)
	if err != nil {
		return nil, err
	}
	kind, _, err := mime.ParseMediaType(answer.ContentType)
	if answer.Status != http.StatusOK || err != nil || !slices.Contains(pictureTypes, kind) {
		return nil, fmt.Errorf("fetch picture: status %d, type %q", answer.Status, answer.ContentType)
	}
	return answer.Body, nil
}
