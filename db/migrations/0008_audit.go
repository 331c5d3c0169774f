package migrations

// audit makes the record of what changed who may do what. It names people and clients without foreign keys: entries
// outlive what they are about, and go by age alone.
// The record of connection attempts learns which HTTP request each step belongs to.
var audit = Migration{ID: "0008_audit", Statements: []string{
	`CREATE TABLE audit_entries (
		id {id} PRIMARY KEY,
		at {ts} NOT NULL,
		actor text NOT NULL CHECK (actor IN ('person', 'cli', 'client', 'server')),
		actor_id text NOT NULL,
		action text NOT NULL,
		person_id text NOT NULL,
		client_id text NOT NULL,
		connection_id text NOT NULL,
		address text NOT NULL,
		detail text NOT NULL
	)`,
	`CREATE INDEX audit_entries_at ON audit_entries (at)`,
	`CREATE INDEX audit_entries_person ON audit_entries (person_id, id) WHERE person_id <> ''`,
	`CREATE INDEX audit_entries_actor ON audit_entries (actor_id, id) WHERE actor_id <> ''`,
	`CREATE INDEX audit_entries_client ON audit_entries (client_id, id) WHERE client_id <> ''`,
	`CREATE INDEX audit_entries_action ON audit_entries (action, id)`,
	// An error page shows the id of its request; with it the attempt is found.
	`ALTER TABLE handshake_steps ADD COLUMN http_request text NOT NULL DEFAULT ''`,
	`CREATE INDEX handshake_steps_http_request ON handshake_steps (http_request) WHERE http_request <> ''`,
}}
