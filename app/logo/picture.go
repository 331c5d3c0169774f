package logo

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // a format that is read
	"image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // a format that is read
)

// Limits of a picture.
const (
	// maxSide and maxPixels bound what is decoded at all: a small file can hold a huge picture.
	maxSide   = 4096
	maxPixels = 2048 * 2048
	// shownSide is the longer side of what is made.
	shownSide = 96
)

var errPicture = errors.New("logo: not a picture that can be used")

// redraw reads a PNG, JPEG or WebP picture and encodes it anew as PNG, 96 pixels at most. Nothing of the file itself
// comes through but its colours.
func redraw(file []byte) ([]byte, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPicture, err)
	}
	if format != "png" && format != "jpeg" && format != "webp" {
		return nil, fmt.Errorf("%w: format %s", errPicture, format)
	}
	w, h := config.Width, config.Height
	if w < 1 || h < 1 || w > maxSide || h > maxSide || w*h > maxPixels {
		return nil, fmt.Errorf("%w: %d by %d pixels", errPicture, w, h)
	}
	picture, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPicture, err)
	}
	small := image.NewNRGBA(fit(picture.Bounds()))
	draw.CatmullRom.Scale(small, small.Bounds(), picture, picture.Bounds(), draw.Src, nil)
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		return nil, fmt.Errorf("encode logo: %w", err)
	}
	return out.Bytes(), nil
}

// fit is the size at which a picture is shown; small ones stay as they are.
func fit(b image.Rectangle) image.Rectangle {
	w, h := b.Dx(), b.Dy()
	longer := max(w, h)
	if longer <= shownSide {
		return image.Rect(0, 0, w, h)
	}
	return image.Rect(0, 0, max(1, w*shownSide/longer), max(1, h*shownSide/longer))
}
