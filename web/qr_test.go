package web

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestQRPicture(t *testing.T) {
	t.Parallel()
	p, err := drawQR("otpauth://totp/Gatehouse%20(home.example):ada@example.org?secret=" + strings.Repeat("A", 32) + "&issuer=Gatehouse&algorithm=SHA1&digits=6&period=30")
	if err != nil {
		t.Fatal(err)
	}
	size, err := strconv.Atoi(p.size)
	if err != nil || (size-2*qrQuiet-17)%4 != 0 {
		t.Fatalf("TF-1 a picture of %s modules, %v", p.size, err)
	}
	dark := make([][]bool, size)
	for y := range dark {
		dark[y] = make([]bool, size)
	}
	for _, run := range strings.Split(strings.TrimSuffix(p.path, "z"), "z") {
		var x, y, n, back int
		if _, err := fmt.Sscanf(run, "M%d %dh%dv1h-%d", &x, &y, &n, &back); err != nil || n != back {
			t.Fatalf("TF-1 path %q: %v", run, err)
		}
		for i := range n {
			dark[y][x+i] = true
		}
	}
	// The three corners of every QR code (ISO/IEC 18004 §5.3.2), inside the quiet border.
	for _, corner := range [][2]int{{qrQuiet, qrQuiet}, {size - qrQuiet - 7, qrQuiet}, {qrQuiet, size - qrQuiet - 7}} {
		for y := range 7 {
			for x := range 7 {
				ring := min(x, y, 6-x, 6-y)
				if dark[corner[1]+y][corner[0]+x] != (ring != 1) {
					t.Errorf("TF-1 the corner at %v is wrong at %d %d", corner, x, y)
				}
			}
		}
	}
	for i := range size {
		if dark[qrQuiet-1][i] || dark[i][qrQuiet-1] || dark[size-qrQuiet][i] || dark[i][size-qrQuiet] {
			t.Error("TF-1 the border is not quiet")
		}
	}
}
