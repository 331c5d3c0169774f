package migrations

// peopleRest makes the tables of what lets people in: providers with the sign-ins under way, invitations, links that prove
// an address, and the mail to be sent. Everybody who is there was entered by an administrator, so their address counts as
// verified.
var peopleRest = Migration{ID: "0015_people_rest", Statements: []string{
	`ALTER TABLE users ADD COLUMN email_verified_at {ts}`,
	`UPDATE users SET email_verified_at = created_at`,
	`CREATE INDEX users_deletion ON users (deletion_due_at)`,
	`CREATE TABLE identity_providers (
		id {id} PRIMARY KEY,
		slug text NOT NULL UNIQUE CHECK (length(slug) BETWEEN 1 AND 40),
		name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
		issuer text NOT NULL UNIQUE CHECK (length(issuer) BETWEEN 1 AND 2000),
		client_id text NOT NULL,
		secret_sealed {bytes},
		domains text NOT NULL,
		sign_up {bool} NOT NULL,
		created_at {ts} NOT NULL
	)`,
	// A sign-in at a provider that is under way. Nothing in it is of use without the browser that began it.
	`CREATE TABLE upstream_attempts (
		state_hash {bytes} PRIMARY KEY,
		provider_id {id} NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
		browser_hash {bytes} NOT NULL,
		purpose text NOT NULL CHECK (purpose IN ('sign_in', 'link', 'invitation')),
		user_id {id} REFERENCES users (id) ON DELETE CASCADE,
		invitation_id {id},
		request text NOT NULL,
		return_path text NOT NULL,
		expires_at {ts} NOT NULL
	)`,
	`CREATE INDEX upstream_attempts_expires ON upstream_attempts (expires_at)`,
	`CREATE TABLE invitations (
		id {id} PRIMARY KEY,
		location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
		role text NOT NULL CHECK (role IN ('admin', 'member', 'viewer')),
		email text NOT NULL,
		mailed {bool} NOT NULL,
		token_hash {bytes} NOT NULL UNIQUE,
		invited_by {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
		created_at {ts} NOT NULL,
		expires_at {ts} NOT NULL,
		accepted_at {ts},
		accepted_by {id} REFERENCES users (id) ON DELETE SET NULL,
		revoked_at {ts}
	)`,
	`CREATE INDEX invitations_location ON invitations (location_id, created_at)`,
	`CREATE INDEX invitations_expires ON invitations (expires_at)`,
	`CREATE TABLE address_links (
		id {id} PRIMARY KEY,
		kind text NOT NULL CHECK (kind IN ('sign_up', 'email_change')),
		user_id {id} REFERENCES users (id) ON DELETE CASCADE,
		email text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
		token_hash {bytes} NOT NULL UNIQUE,
		created_at {ts} NOT NULL,
		expires_at {ts} NOT NULL,
		CHECK ((kind = 'email_change') = (user_id IS NOT NULL))
	)`,
	`CREATE INDEX address_links_user ON address_links (user_id)`,
	`CREATE INDEX address_links_expires ON address_links (expires_at)`,
	// Mail to be sent. The links in it are made when it is sent: no secret lies here.
	`CREATE TABLE outbox (
		id {id} PRIMARY KEY,
		message text NOT NULL,
		attempts {int} NOT NULL,
		next_at {ts} NOT NULL,
		created_at {ts} NOT NULL
	)`,
	`CREATE INDEX outbox_next ON outbox (next_at)`,
}}
