package web

import (
	"strconv"
	"strings"

	"github.com/yeqown/go-qrcode/v2"
)

// qrQuiet is the empty border that readers need (ISO/IEC 18004 §5.3.8), in modules.
const qrQuiet = 4

// qrPicture is a QR code as the path of an SVG picture, which needs no style and no script.
type qrPicture struct{ path, size string }

// drawQR draws a QR code here: its text is a secret that no other service may see.
func drawQR(text string) (*qrPicture, error) {
	code, err := qrcode.NewWith(text, qrcode.WithErrorCorrectionLevel(qrcode.ErrorCorrectionMedium))
	if err != nil {
		return nil, err
	}
	p := &qrPicture{}
	return p, code.Save(p)
}

// Write implements qrcode.Writer: one rectangle for each run of dark modules in a row.
func (p *qrPicture) Write(m qrcode.Matrix) error {
	var b strings.Builder
	for y, row := range m.Bitmap() {
		for x := 0; x < len(row); x++ {
			if !row[x] {
				continue
			}
			from := x
			for x+1 < len(row) && row[x+1] {
				x++
			}
			n := strconv.Itoa(x + 1 - from)
			b.WriteString("M" + strconv.Itoa(from+qrQuiet) + " " + strconv.Itoa(y+qrQuiet) + "h" + n + "v1h-" + n + "z")
		}
	}
	p.path, p.size = b.String(), strconv.Itoa(m.Width()+2*qrQuiet)
	return nil
}

// Close implements qrcode.Writer.
func (p *qrPicture) Close() error { return nil }
