package db_test

import (
	"context"
	"testing"
	"time"

	"gatehouse/db"
	"gatehouse/db/dbtest"
)

// Attempts that nobody signed in to are kept up to a number, whoever makes them; those of people stay.
func TestSweepStrangers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		s := seed{t, d}
		add := func(user string, at time.Time) {
			id, ts := newID(t), db.TimeForTest(d, at)
			s.exec(`INSERT INTO handshake_attempts (id, started_at, last_at, source, ip, user_agent, client_id, client_name,
				request_id, connection_id, user_id, resource, reached, failed, reason, steps)
				VALUES (?, ?, ?, '', '', '', '', '', '', '', ?, '', '', ?, '', 1)`, id, ts, ts, user, false)
			s.exec(`INSERT INTO handshake_steps (attempt_id, position, at, step, ok, check_name, reason, detail, milliseconds)
				VALUES (?, 1, ?, 'challenge_sent', ?, '', '', '', 0)`, id, ts, true)
		}
		for i := range 10 {
			add("", clock.Now().Add(time.Duration(i)*time.Second))
		}
		add("ada", clock.Now())
		if err := db.SweepStrangersForTest(d, 4); err != nil {
			t.Fatal(err)
		}
		for what, want := range map[string]int{
			`SELECT count(*) FROM handshake_attempts WHERE user_id = ''`:    4,
			`SELECT count(*) FROM handshake_attempts WHERE user_id = 'ada'`: 1,
			`SELECT count(*) FROM handshake_steps`:                          5,
		} {
			if n, err := db.CountForTest(d, what); err != nil || n != want {
				t.Errorf("%s: %d, %v, want %d", what, n, err, want)
			}
		}
		oldest, err := db.CountForTest(d, `SELECT count(*) FROM handshake_attempts WHERE user_id = '' AND last_at < ?`, db.TimeForTest(d, clock.Now().Add(6*time.Second)))
		if err != nil || oldest != 0 {
			t.Errorf("%d of the oldest were kept, %v", oldest, err)
		}
		if _, err := d.SweepHandshakes(context.Background(), clock.Now().Add(-time.Hour)); err != nil {
			t.Errorf("below the number: %v", err)
		}
	})
}
