package migrations

// registration adds what administrators decide about clients, the management of registrations, and the browser that an
// authorization request belongs to.
var registration = Migration{ID: "0009_registration", Statements: []string{
	`ALTER TABLE clients ADD COLUMN registration_hash {bytes}`,
	`ALTER TABLE clients ADD COLUMN pending_at {ts}`,
	// JSON that SQL never looks into: an administrator's switches, and when members of the metadata changed.
	`ALTER TABLE clients ADD COLUMN settings text NOT NULL DEFAULT '{}'`,
	`ALTER TABLE clients ADD COLUMN changes text NOT NULL DEFAULT '{}'`,
	`CREATE INDEX clients_registration ON clients (registration_hash) WHERE registration_hash IS NOT NULL`,
	`CREATE INDEX clients_host ON clients (host) WHERE kind = 'document'`,
	`ALTER TABLE authorization_requests ADD COLUMN browser_hash {bytes}`,
	`CREATE TABLE registration_tokens (
		id {id} PRIMARY KEY,
		hash {bytes} NOT NULL UNIQUE,
		name text NOT NULL,
		created_at {ts} NOT NULL,
		expires_at {ts},
		max_uses {int},
		uses {int} NOT NULL DEFAULT 0,
		last_used_at {ts},
		revoked_at {ts}
	)`,
	// One row per policy that an administrator saved; without it the program's settings hold.
	`CREATE TABLE policies (
		name text PRIMARY KEY,
		value text NOT NULL,
		updated_at {ts} NOT NULL
	)`,
	// A row without an image remembers that there was none to be had.
	`CREATE TABLE client_logos (
		client_id text PRIMARY KEY,
		logo_uri text NOT NULL,
		image {bytes},
		fetched_at {ts} NOT NULL,
		expires_at {ts} NOT NULL
	)`,
	`CREATE INDEX client_logos_expires ON client_logos (expires_at)`,
}}
