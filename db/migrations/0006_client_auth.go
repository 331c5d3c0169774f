package migrations

// clientAuth makes the table of used client assertions. Documents that were read before keys counted are forgotten as
// far as caching goes, so that they are read again with their keys.
var clientAuth = Migration{ID: "0006_client_auth", Statements: []string{
	`CREATE TABLE client_assertions (
		hash {bytes} PRIMARY KEY,
		expires_at {ts} NOT NULL
	)`,
	`CREATE INDEX client_assertions_expires ON client_assertions (expires_at)`,
	`UPDATE clients SET document_etag = '', document_fresh_until = document_fetched_at
		WHERE kind = 'document' AND document_fetched_at IS NOT NULL`,
}}
