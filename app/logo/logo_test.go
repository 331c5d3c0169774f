package logo

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"sync"
	"testing"
	"time"
)

func picture(w, h int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for x := range w {
		for y := range h {
			m.Set(x, y, color.NRGBA{uint8(x), uint8(y), 90, 255})
		}
	}
	return m
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp is a picture of one pixel.
const webp = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"

func TestRedraw(t *testing.T) {
	t.Parallel()
	var jpg, animated bytes.Buffer
	if err := errors.Join(jpeg.Encode(&jpg, picture(300, 150), nil), gif.Encode(&animated, picture(8, 8), nil)); err != nil {
		t.Fatal(err)
	}
	small, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	large := pngOf(t, image.NewGray(image.Rect(0, 0, 4097, 1)))
	many := pngOf(t, image.NewGray(image.Rect(0, 0, 2100, 2100)))
	for name, c := range map[string]struct {
		file []byte
		w, h int // of the result; none for a refusal
	}{
		"CI-18 png":                 {pngOf(t, picture(200, 100)), 96, 48},
		"CI-18 png upright":         {pngOf(t, picture(100, 200)), 48, 96},
		"CI-18 small stays small":   {pngOf(t, picture(5, 7)), 5, 7},
		"CI-18 jpeg":                {jpg.Bytes(), 96, 48},
		"CI-18 webp":                {small, 1, 1},
		"CI-18 a thin line":         {pngOf(t, picture(1000, 1)), 96, 1},
		"CI-18 gif":                 {animated.Bytes(), 0, 0},
		"CI-18 svg":                 {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), 0, 0},
		"CI-18 nothing":             {nil, 0, 0},
		"CI-18 cut off":             {pngOf(t, picture(200, 100))[:100], 0, 0},
		"CI-18 too wide":            {large, 0, 0},
		"CI-18 too many pixels":     {many, 0, 0},
		"CI-18 something after all": {append(pngOf(t, picture(5, 5)), []byte("<script>")...), 5, 5},
	} {
		out, err := redraw(c.file)
		if c.w == 0 {
			if !errors.Is(err, errPicture) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		m, format, decodeErr := image.Decode(bytes.NewReader(out))
		if err != nil || decodeErr != nil || format != "png" || m.Bounds().Dx() != c.w || m.Bounds().Dy() != c.h || bytes.Contains(out, []byte("<script>")) {
			t.Errorf("%s: %v, %v", name, err, decodeErr)
		}
	}
}

func FuzzRedraw(f *testing.F) {
	f.Add(pngOf(f, picture(3, 3)))
	if small, err := base64.StdEncoding.DecodeString(webp); err == nil {
		f.Add(small)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		out, err := redraw(file)
		if err != nil {
			return
		}
		c, format, err := image.DecodeConfig(bytes.NewReader(out))
		if err != nil || format != "png" || c.Width > shownSide || c.Height > shownSide {
			t.Errorf("made %s of %d by %d: %v", format, c.Width, c.Height, err)
		}
	})
}

// memory keeps logos; it is also the place they come from.
type memory struct {
	mu      sync.Mutex
	kept    map[string]Logo
	file    []byte
	fetched int
}

func (m *memory) Logo(_ context.Context, id string) (*Logo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l, ok := m.kept[id]; ok {
		return &l, nil
	}
	return nil, ErrNone
}

func (m *memory) SaveLogo(_ context.Context, l Logo) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[l.ClientID] = l
	return nil
}

func (m *memory) FetchPicture(context.Context, string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fetched++
	if m.file == nil {
		return nil, errors.New("not there")
	}
	return m.file, nil
}

func TestLogos(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	m := &memory{kept: map[string]Logo{}, file: pngOf(t, picture(200, 200))}
	allowed := true
	s := New(Config{Store: m, Fetch: m, Now: func() time.Time { return now }, Allowed: func(context.Context, string) (bool, error) { return allowed, nil }})
	of := Of{ClientID: "https://app.example/c", URI: "https://app.example/logo", FreshUntil: now.Add(time.Hour)}
	get := func(wantFetches int, want error) {
		t.Helper()
		if out, err := s.Get(t.Context(), of); !errors.Is(err, want) || want == nil && len(out) == 0 || m.fetched != wantFetches {
			t.Errorf("CI-18 %v after %d fetches; want %v after %d", err, m.fetched, want, wantFetches)
		}
	}
	get(1, nil)
	get(1, nil)
	now = of.FreshUntil
	of.FreshUntil = now.Add(time.Hour)
	get(2, nil) // no longer than the document
	of.URI = "https://app.example/other"
	m.file = []byte("<svg/>")
	get(3, ErrNone)
	get(3, ErrNone) // a failure is remembered
	m.file = pngOf(t, picture(5, 5))
	now = now.Add(retryAfter)
	get(4, nil)
	of.URI, allowed = "https://blocked.example/logo", false
	get(4, ErrNone) // and a blocked host is never asked
	of.URI = ""
	get(4, ErrNone)
}
