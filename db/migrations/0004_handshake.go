package migrations

// handshake makes the tables of the record of connection attempts. They hold no foreign keys: the record is written
// apart from what it describes and is deleted by age alone.
var handshake = Migration{ID: "0004_handshake", Statements: []string{
	`CREATE TABLE handshake_attempts (
		id {id} PRIMARY KEY,
		started_at {ts} NOT NULL,
		last_at {ts} NOT NULL,
		source text NOT NULL,
		ip text NOT NULL,
		user_agent text NOT NULL,
		client_id text NOT NULL,
		client_name text NOT NULL,
		request_id text NOT NULL,
		connection_id text NOT NULL,
		user_id text NOT NULL,
		resource text NOT NULL,
		reached text NOT NULL,
		failed {bool} NOT NULL,
		reason text NOT NULL,
		steps {int} NOT NULL
	)`,
	`CREATE INDEX handshake_attempts_last ON handshake_attempts (last_at)`,
	`CREATE INDEX handshake_attempts_source ON handshake_attempts (source, last_at)`,
	`CREATE INDEX handshake_attempts_client ON handshake_attempts (client_id, last_at)`,
	`CREATE INDEX handshake_attempts_request ON handshake_attempts (request_id) WHERE request_id <> ''`,
	`CREATE INDEX handshake_attempts_connection ON handshake_attempts (connection_id, last_at) WHERE connection_id <> ''`,
	`CREATE INDEX handshake_attempts_user ON handshake_attempts (user_id, last_at) WHERE user_id <> ''`,
	`CREATE TABLE handshake_steps (
		attempt_id {id} NOT NULL,
		position {int} NOT NULL,
		at {ts} NOT NULL,
		step text NOT NULL,
		ok {bool} NOT NULL,
		check_name text NOT NULL,
		reason text NOT NULL,
		detail text NOT NULL,
		milliseconds {int} NOT NULL,
		PRIMARY KEY (attempt_id, position)
	)`,
}}
