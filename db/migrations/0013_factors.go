package migrations

// factors adds passkeys, authenticator apps with their recovery codes, and what waits between two pages of a sign-in.
var factors = Migration{ID: "0013_factors", Statements: []string{
	// A password that is only long enough beside a second factor. Earlier ones all stand alone.
	`ALTER TABLE users ADD COLUMN password_short {bool} NOT NULL DEFAULT FALSE`,
	`ALTER TABLE users ADD COLUMN user_handle {bytes}`,
	`CREATE UNIQUE INDEX users_handle ON users (user_handle)`,
	`CREATE TABLE passkeys (
		id {id} PRIMARY KEY,
		user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
		name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
		credential_id {bytes} NOT NULL UNIQUE,
		public_key {bytes} NOT NULL,
		aaguid {bytes} NOT NULL,
		transports text NOT NULL,
		sign_count {int} NOT NULL,
		backup_eligible {bool} NOT NULL,
		backed_up {bool} NOT NULL,
		went_back_at {ts},
		last_used_at {ts},
		created_at {ts} NOT NULL
	)`,
	`CREATE INDEX passkeys_user ON passkeys (user_id)`,
	// At most one per person. The seed is sealed for the row.
	`CREATE TABLE authenticators (
		id {id} PRIMARY KEY,
		user_id {id} NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
		seed {bytes} NOT NULL,
		confirmed_at {ts},
		last_step {int} NOT NULL,
		created_at {ts} NOT NULL
	)`,
	`CREATE TABLE recovery_codes (
		hash {bytes} PRIMARY KEY,
		user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
		used_at {ts},
		created_at {ts} NOT NULL
	)`,
	`CREATE INDEX recovery_codes_user ON recovery_codes (user_id)`,
	`CREATE TABLE pending_sign_ins (
		hash {bytes} PRIMARY KEY,
		user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
		expires_at {ts} NOT NULL,
		created_at {ts} NOT NULL
	)`,
	`CREATE INDEX pending_sign_ins_user ON pending_sign_ins (user_id)`,
	`CREATE INDEX pending_sign_ins_expires ON pending_sign_ins (expires_at)`,
	`CREATE TABLE passkey_ceremonies (
		hash {bytes} PRIMARY KEY,
		kind text NOT NULL CHECK (kind IN ('add', 'sign_in')),
		user_id {id} REFERENCES users (id) ON DELETE CASCADE,
		browser {bytes} NOT NULL,
		data {bytes} NOT NULL,
		expires_at {ts} NOT NULL,
		created_at {ts} NOT NULL
	)`,
	`CREATE INDEX passkey_ceremonies_user ON passkey_ceremonies (user_id)`,
	`CREATE INDEX passkey_ceremonies_expires ON passkey_ceremonies (expires_at)`,
}}
