package migrations

// clientAuth makes the tables of used client assertions and of pushed authorization requests. Documents that were read before keys counted are forgotten as
// far as caching goes, so that they are read again with their keys.
var clientAuth = Migration{ID: "0006_client_auth", Statements: []string{
	`CREATE TABLE client_assertions (
		hash {bytes} PRIMARY KEY,
		expires_at {ts} NOT NULL
	)`,
	`CREATE INDEX client_assertions_expires ON client_assertions (expires_at)`,
	`CREATE TABLE pushed_requests (
		id_hash {bytes} PRIMARY KEY,
		client_id text NOT NULL,
		parameters text NOT NULL,
		created_at {ts} NOT NULL,
		expires_at {ts} NOT NULL,
		opened_at {ts}
	)`,
	`CREATE INDEX pushed_requests_expires ON pushed_requests (expires_at)`,
	`ALTER TABLE authorization_requests ADD COLUMN pushed {bool} NOT NULL DEFAULT false`,
	`UPDATE clients SET document_etag = '', document_fresh_until = document_fetched_at
		WHERE kind = 'document' AND document_fetched_at IS NOT NULL`,
}}
