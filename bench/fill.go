package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// peoplePerRun is how many people the codes are spread over.
const peoplePerRun = 1000

// newPostgres makes an empty database beside the given one and gives its URL.
func newPostgres(t *host, base, name string) string {
	d, err := gorm.Open(postgres.Open(base), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	name = fmt.Sprintf("%s_%d", name, time.Now().UnixNano()%1e9)
	if err := d.Exec("CREATE DATABASE " + name).Error; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.Exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)").Error
	})
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// filler are the words that differ between the databases.
type filler struct{ series, id, bytes, at string }

var fillers = map[string]filler{
	"SQLite": {series: "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM s WHERE i < %d)", id: "printf('01a20000-%%04x-7000-8000-%%012x', %d, i)",
		bytes: "randomblob(32)", at: "(unixepoch()*1000 + %d)"},
	"Postgres": {series: "WITH s AS (SELECT generate_series(1, %d) AS i)", id: "('01a20000-' || lpad(to_hex(%d), 4, '0') || '-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid",
		bytes: "sha256((random()::text || i)::bytea)", at: "(now() + interval '%d milliseconds')"},
}

// fill puts connections, each of another person with an installation and a refresh token, into the database, and the
// codes that will be redeemed.
func fill(t *host, where, database string, size int, clients, secrets []string, resource string) {
	d, err := openFloor(database)
	if err != nil {
		t.Fatal(err)
	}
	f := fillers[where]
	people := max(peoplePerRun, size)
	id := func(kind int) string { return fmt.Sprintf(f.id, kind) }
	now, later := fmt.Sprintf(f.at, 0), fmt.Sprintf(f.at, 3600_000*24)
	// SQLite wants WITH inside of INSERT … SELECT, Postgres takes it there too.
	insert := func(n int, into, values string, args ...any) {
		if err := d.Exec("INSERT INTO "+into+" "+fmt.Sprintf(f.series, n)+" SELECT "+values+" FROM s", args...).Error; err != nil {
			t.Fatalf("%s: %v", into, err)
		}
	}
	insert(people, "users (id, email, name, is_admin, password_hash, password_changed_at, created_at, updated_at)",
		id(1)+", 'p' || i || '@example.org', 'Person', false, '', "+now+", "+now+", "+now)
	insert(size, "connections (id, user_id, client_id, resource, scopes, hidden_tools, created_at, updated_at)",
		id(2)+", "+id(1)+", 'gc_filler', ?, 'home:read', '', "+now+", "+now, resource)
	insert(size, "families (id, connection_id, device_hint, scopes, created_at)", id(3)+", "+id(2)+", '', 'home:read', "+now)
	insert(size, "refresh_tokens (hash, family_id, created_at, expires_at)", f.bytes+", "+id(3)+", "+now+", "+later)
	fillCodes(t, d, where, clients, secrets, resource)
	if where == "Postgres" {
		_ = d.Exec("ANALYZE").Error
	}
}

// fillCodes stores the codes, spread over people and clients.
func fillCodes(t *host, d *gorm.DB, where string, clients, secrets []string, resource string) {
	challenge := sha256.Sum256([]byte(benchVerifier))
	var at, later any = time.Now().UTC(), time.Now().UTC().Add(24 * time.Hour)
	if where == "SQLite" {
		at, later = time.Now().UnixMilli(), time.Now().Add(24*time.Hour).UnixMilli()
	}
	const batch = 200
	for first := 0; first < len(secrets); first += batch {
		var rows []string
		var args []any
		for i := first; i < min(first+batch, len(secrets)); i++ {
			hash := sha256.Sum256([]byte(secrets[i]))
			rows = append(rows, "('', ?, ?, ?, ?, 'home:read', ?, ?, ?, ?, ?)")
			args = append(args, hash[:], fmt.Sprintf("01a20000-0001-7000-8000-%012x", 1+i%peoplePerRun), clients[i%len(clients)], resource,
				benchRedirect, base64.RawURLEncoding.EncodeToString(challenge[:]), at, at, later)
		}
		err := d.Exec("INSERT INTO authorization_codes (request_id, hash, user_id, client_id, resource, scopes, redirect_uri, code_challenge, auth_time, issued_at, expires_at) VALUES "+
			strings.Join(rows, ", "), args...).Error
		if err != nil {
			t.Fatalf("codes: %v", err)
		}
	}
}
