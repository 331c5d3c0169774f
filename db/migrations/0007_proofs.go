package migrations

// proofs adds what binds codes and tokens to a client's key, and the used proofs of possession.
var proofs = Migration{ID: "0007_proofs", Statements: []string{
	`ALTER TABLE authorization_codes ADD COLUMN key_thumbprint text NOT NULL DEFAULT ''`,
	`ALTER TABLE families ADD COLUMN key_thumbprint text NOT NULL DEFAULT ''`,
	`CREATE TABLE used_proofs (
		hash {bytes} PRIMARY KEY,
		expires_at {ts} NOT NULL
	)`,
	`CREATE INDEX used_proofs_expires ON used_proofs (expires_at)`,
}}
