package migrations

// oauth makes the tables of the authorization server. Client ids are text: they may be URLs. Rows name clients without
// a foreign key, because a connection is history that outlives its client. Reasons of an end are an open vocabulary.
//
// Text columns that hold JSON (parameters, metadata, terms) are never looked into by SQL: they are kept byte for byte,
// and may hold escaped characters that jsonb refuses.
var oauth = Migration{ID: "0002_oauth", Statements: []string{
	`CREATE TABLE clients (
		id text PRIMARY KEY,
		kind text NOT NULL CHECK (kind IN ('dynamic', 'document', 'registered')),
		name text NOT NULL,
		host text NOT NULL,
		secret_hash {bytes},
		metadata text NOT NULL,
		document_etag text,
		document_digest {bytes},
		document_fetched_at {ts},
		document_fresh_until {ts},
		blocked_at {ts},
		created_at {ts} NOT NULL,
		last_seen_at {ts} NOT NULL
	)`,
	`CREATE INDEX clients_kind ON clients (kind, created_at)`,
	`CREATE TABLE authorization_requests (
		id_hash {bytes} PRIMARY KEY,
		parameters text NOT NULL,
		client_id text NOT NULL,
		created_at {ts} NOT NULL,
		expires_at {ts} NOT NULL,
		decided_at {ts},
		outcome text CHECK (outcome IN ('allowed', 'denied'))
	)`,
	`CREATE INDEX authorization_requests_expires ON authorization_requests (expires_at)`,
	`CREATE TABLE authorization_codes (
		hash {bytes} PRIMARY KEY,
		request_id text NOT NULL,
		user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
		client_id text NOT NULL,
		resource text NOT NULL,
		scopes text NOT NULL,
		terms text,
		connection_expires_at {ts},
		redirect_uri text NOT NULL,
		code_challenge text NOT NULL,
		auth_time {ts} NOT NULL,
		issued_at {ts} NOT NULL,
		expires_at {ts} NOT NULL,
		used_at {ts},
		family_id {id}
	)`,
	`CREATE INDEX authorization_codes_expires ON authorization_codes (expires_at)`,
	`CREATE INDEX authorization_codes_user ON authorization_codes (user_id)`,
	`CREATE TABLE connections (
		id {id} PRIMARY KEY,
		user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
		client_id text NOT NULL,
		resource text NOT NULL,
		scopes text NOT NULL,
		hidden_tools text NOT NULL,
		terms text,
		expires_at {ts},
		created_at {ts} NOT NULL,
		updated_at {ts} NOT NULL,
		ended_at {ts},
		ended_reason text
	)`,
	`CREATE UNIQUE INDEX connections_live ON connections (user_id, client_id, resource) WHERE ended_at IS NULL`,
	`CREATE INDEX connections_user ON connections (user_id, created_at)`,
	`CREATE INDEX connections_client ON connections (client_id)`,
	// The last use is noted on the family alone: the connection's is the latest of its families.
	`CREATE TABLE families (
		id {id} PRIMARY KEY,
		connection_id {id} NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
		device_hint text NOT NULL,
		scopes text NOT NULL,
		created_at {ts} NOT NULL,
		last_used_at {ts},
		last_used_ip text NOT NULL DEFAULT '',
		last_used_tool text NOT NULL DEFAULT '',
		ended_at {ts},
		ended_reason text
	)`,
	`CREATE INDEX families_connection ON families (connection_id)`,
	`CREATE TABLE refresh_tokens (
		hash {bytes} PRIMARY KEY,
		family_id {id} NOT NULL REFERENCES families (id) ON DELETE CASCADE,
		parent_hash {bytes},
		successor_hash {bytes},
		successor_sealed {bytes},
		created_at {ts} NOT NULL,
		rotated_at {ts},
		expires_at {ts} NOT NULL
	)`,
	`CREATE INDEX refresh_tokens_family ON refresh_tokens (family_id)`,
	`CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at)`,
	`CREATE TABLE revoked_access_tokens (
		jti text PRIMARY KEY,
		expires_at {ts} NOT NULL
	)`,
	`CREATE INDEX revoked_access_tokens_expires ON revoked_access_tokens (expires_at)`,
	`CREATE TABLE signing_keys (
		kid text PRIMARY KEY,
		algorithm text NOT NULL,
		public_jwk {bytes} NOT NULL,
		sealed {bytes} NOT NULL,
		state text NOT NULL CHECK (state IN ('next', 'active', 'retired')),
		created_at {ts} NOT NULL,
		activated_at {ts},
		retired_at {ts}
	)`,
	`CREATE TABLE sealing_checks (
		name text PRIMARY KEY,
		value {bytes} NOT NULL
	)`,
	`CREATE TABLE jobs (
		name text PRIMARY KEY,
		due_at {ts} NOT NULL,
		leased_until {ts},
		lease text,
		finished_at {ts}
	)`,
}, Only: map[string][]string{
	// Read on every call: on SQLite the table is its own index, so that a connection's rows lie side by side.
	"sqlite": {
		`CREATE TABLE connection_locations (` + connectionLocations + `) WITHOUT ROWID`,
		`CREATE INDEX connection_locations_location ON connection_locations (location_id)`,
	},
	"postgres": {
		`CREATE TABLE connection_locations (` + connectionLocations + `)`,
		`CREATE INDEX connection_locations_location ON connection_locations (location_id)`,
	},
}}

const connectionLocations = `
	connection_id {id} NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
	location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
	PRIMARY KEY (connection_id, location_id)`
