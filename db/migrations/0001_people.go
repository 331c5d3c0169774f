package migrations

// people makes the tables of persons, their sessions, locations, memberships, modules and personal tokens, the one-time
// links, and the rows that slow down guessing.
var people = Migration{
	ID: "0001_people",
	Statements: []string{
		`CREATE TABLE users (
			id {id} PRIMARY KEY,
			email text NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254),
			name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
			locale text NOT NULL DEFAULT 'en',
			is_admin {bool} NOT NULL,
			password_hash text NOT NULL,
			password_changed_at {ts} NOT NULL,
			disabled_at {ts},
			deletion_due_at {ts},
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL
		)`,
		// One row is one signed-in browser; ending a session deletes it.
		`CREATE TABLE sessions (
			id {id} PRIMARY KEY,
			user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
			secret_hash {bytes} NOT NULL UNIQUE,
			auth_time {ts} NOT NULL,
			last_seen_at {ts} NOT NULL,
			expires_at {ts} NOT NULL,
			ip text NOT NULL,
			user_agent text NOT NULL,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL
		)`,
		`CREATE INDEX sessions_user ON sessions (user_id)`,
		`CREATE INDEX sessions_expires ON sessions (expires_at)`,
		`CREATE TABLE one_time_links (
			id {id} PRIMARY KEY,
			kind text NOT NULL CHECK (kind IN ('setup', 'reset')),
			user_id {id} REFERENCES users (id) ON DELETE CASCADE,
			token_hash {bytes} NOT NULL UNIQUE,
			expires_at {ts} NOT NULL,
			used_at {ts},
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL,
			CHECK ((kind = 'reset') = (user_id IS NOT NULL))
		)`,
		`CREATE INDEX one_time_links_user ON one_time_links (user_id)`,
		`CREATE TABLE locations (
			id {id} PRIMARY KEY,
			name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
			time_zone text NOT NULL,
			currency text NOT NULL CHECK (length(currency) = 3),
			currencies {json} NOT NULL,
			viewer_sees_money {bool} NOT NULL,
			require_2fa {bool} NOT NULL,
			child_order text NOT NULL CHECK (child_order IN ('custom', 'name', 'kind')),
			preset text NOT NULL,
			event_seq {int} NOT NULL DEFAULT 0,
			row_version {int} NOT NULL DEFAULT 1,
			deleted_at {ts},
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL
		)`,
		`CREATE TABLE personal_tokens (
			id {id} PRIMARY KEY,
			user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
			name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
			lookup text NOT NULL UNIQUE CHECK (length(lookup) = 8),
			hash {bytes} NOT NULL,
			scope text NOT NULL CHECK (scope IN ('read', 'write')),
			expires_at {ts},
			last_used_at {ts},
			last_used_ip text,
			revoked_at {ts},
			revoked_reason text CHECK (revoked_reason IN ('user', 'membership_ended', 'admin')),
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL,
			CHECK ((revoked_at IS NULL) = (revoked_reason IS NULL))
		)`,
		`CREATE INDEX personal_tokens_user ON personal_tokens (user_id)`,
		// Failed sign-ins per account, network and familiar device network; see app/limit. The key is a hash.
		`CREATE TABLE sign_in_throttle (
			key text PRIMARY KEY,
			failures {int} NOT NULL,
			last_at {ts} NOT NULL,
			next_at {ts} NOT NULL,
			familiar_until {ts}
		)`,
		`CREATE INDEX sign_in_throttle_last ON sign_in_throttle (last_at)`,
	},
	Only: map[string][]string{
		// Read on every call: on SQLite these tables are their own indexes, so that rows of one key lie side by side.
		"sqlite": peopleKeyed("TABLE", " WITHOUT ROWID"),
		// The counts of a minute need not outlive a crash, so they need no write-ahead log.
		"postgres": peopleKeyed("UNLOGGED TABLE", ""),
	},
}

// peopleKeyed makes the tables whose form differs: those with a compound key, and the counts of app/limit.
func peopleKeyed(counts, suffix string) []string {
	return []string{
		`CREATE TABLE members (
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
			role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
			joined_at {ts} NOT NULL,
			invited_by {id} REFERENCES users (id) ON DELETE SET NULL,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL,
			PRIMARY KEY (location_id, user_id)
		)` + suffix,
		`CREATE INDEX members_user ON members (user_id)`,
		`CREATE UNIQUE INDEX members_one_owner ON members (location_id) WHERE role = 'owner'`,
		`CREATE TABLE location_modules (
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			module text NOT NULL,
			enabled {bool} NOT NULL,
			changed_at {ts} NOT NULL,
			changed_by {id} REFERENCES users (id) ON DELETE SET NULL,
			PRIMARY KEY (location_id, module)
		)` + suffix,
		`CREATE TABLE personal_token_locations (
			token_id {id} NOT NULL REFERENCES personal_tokens (id) ON DELETE CASCADE,
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			PRIMARY KEY (token_id, location_id)
		)` + suffix,
		`CREATE INDEX personal_token_locations_location ON personal_token_locations (location_id)`,
		`CREATE ` + counts + ` rate_windows (
			key text PRIMARY KEY,
			closes_at {ts} NOT NULL,
			taken {int} NOT NULL,
			granted {int} NOT NULL
		)` + suffix,
		`CREATE INDEX rate_windows_closes ON rate_windows (closes_at)`,
	}
}
