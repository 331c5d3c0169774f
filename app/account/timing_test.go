package account_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// TestNobodyIsAsSlowAsAWrongPassword measures what counting work cannot see: whether the time of an answer tells an unknown
// account from a wrong password. Samples are taken by turns and compared by ranks (Mann-Whitney), so that neither the load
// of the machine nor single outliers decide. Chance fails one round in a thousand; it takes four in a row to fail.
func TestNobodyIsAsSlowAsAWrongPassword(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		f := newFixture(t, d, clock, func(c *account.Config) { c.Hasher = smallHasher(t, 4096) })
		f.person(t, "ada@example.org")
		try := func(email string) float64 {
			clock.Advance(25 * time.Hour) // earlier tries are forgotten, so that nobody waits
			start := time.Now()
			if _, _, err := f.SignIn(ctx, email, otherPassword, account.Device{IP: "198.51.100.7"}); !errors.Is(err, account.ErrWrongCredentials) {
				t.Fatalf("PW-3 %s: %v", email, err)
			}
			return time.Since(start).Seconds()
		}
		const limit = 3.3 // standard deviations
		var z float64
		for range 4 {
			var known, unknown []float64
			for range 40 {
				known, unknown = append(known, try("ada@example.org")), append(unknown, try("nobody@example.org"))
			}
			if z = rankDifference(known, unknown); math.Abs(z) < limit {
				return
			}
		}
		t.Errorf("PW-3 the times of unknown accounts and wrong passwords differ by %.1f standard deviations, four times in a row", z)
	})
}

func TestRankDifferenceSeesADifference(t *testing.T) {
	t.Parallel()
	var slow, fast []float64
	for i := range 40 {
		slow, fast = append(slow, 1+float64(i%7)/10), append(fast, 0.6+float64(i%5)/10)
	}
	if z := rankDifference(slow, fast); z < 5 {
		t.Errorf("PW-3 the comparison sees %.1f standard deviations between 1.3 and 0.8", z)
	}
	if z := rankDifference(slow, slices.Clone(slow)); math.Abs(z) > 0.1 {
		t.Errorf("PW-3 the comparison sees %.1f between equals", z)
	}
}

// rankDifference is how far a's ranks among both are from chance, in standard deviations.
func rankDifference(a, b []float64) float64 {
	wins := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				wins++
			case x == y:
				wins += 0.5
			}
		}
	}
	n, m := float64(len(a)), float64(len(b))
	return (wins - n*m/2) / math.Sqrt(n*m*(n+m+1)/12)
}
