package migrations

// grants adds the requests of devices, the issuers whose assertions are accepted, and what grants without a code need: the
// grant type that a family belongs to, and whether a connection was ended by hand.
var grants = Migration{ID: "0010_grants", Statements: []string{
	`ALTER TABLE clients ADD COLUMN device_grant {bool} NOT NULL DEFAULT FALSE`,
	`ALTER TABLE connections ADD COLUMN barred {bool} NOT NULL DEFAULT FALSE`,
	`ALTER TABLE families ADD COLUMN origin text NOT NULL DEFAULT ''`,
	`CREATE UNIQUE INDEX families_origin ON families (connection_id, origin) WHERE origin <> '' AND ended_at IS NULL`,
	`CREATE TABLE device_requests (
		hash {bytes} PRIMARY KEY,
		user_code_hash {bytes} NOT NULL UNIQUE,
		client_id text NOT NULL,
		resource text NOT NULL,
		requested text NOT NULL,
		address text NOT NULL,
		device_hint text NOT NULL,
		poll_interval {int} NOT NULL,
		next_poll_at {ts} NOT NULL,
		created_at {ts} NOT NULL,
		expires_at {ts} NOT NULL,
		decided_at {ts},
		outcome text CHECK (outcome IN ('allowed', 'denied')),
		user_id {id} REFERENCES users (id) ON DELETE CASCADE,
		scopes text NOT NULL DEFAULT '',
		terms text,
		details text,
		connection_expires_at {ts},
		acr text NOT NULL DEFAULT '',
		amr text NOT NULL DEFAULT '',
		auth_time {ts},
		used_at {ts},
		family_id {id},
		CHECK ((decided_at IS NULL) = (outcome IS NULL))
	)`,
	`CREATE INDEX device_requests_expires ON device_requests (expires_at)`,
	`CREATE INDEX device_requests_user ON device_requests (user_id)`,
	// One issuer is one row; several tenants of one issuer are all or one.
	`CREATE TABLE trusted_issuers (
		issuer text PRIMARY KEY CHECK (length(issuer) BETWEEN 1 AND 2000),
		tenant text NOT NULL,
		jwks_uri text NOT NULL,
		jwks text NOT NULL,
		algorithms text NOT NULL,
		domains text NOT NULL,
		creates_people {bool} NOT NULL,
		single_use {bool} NOT NULL,
		scopes text NOT NULL,
		locations text NOT NULL,
		ignored_claims text NOT NULL,
		created_at {ts} NOT NULL
	)`,
}}
