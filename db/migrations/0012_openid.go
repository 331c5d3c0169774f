package migrations

// openID adds how a person signed in to what comes of it, and access tokens that are looked up.
var openID = Migration{ID: "0012_openid", Statements: []string{
	// Whoever was signed in before had typed a password.
	`ALTER TABLE sessions ADD COLUMN amr text NOT NULL DEFAULT 'pwd'`,
	`ALTER TABLE authorization_codes ADD COLUMN nonce text NOT NULL DEFAULT ''`,
	`ALTER TABLE authorization_codes ADD COLUMN acr text NOT NULL DEFAULT ''`,
	`ALTER TABLE authorization_codes ADD COLUMN amr text NOT NULL DEFAULT ''`,
	// A family from before does not know how its person signed in.
	`ALTER TABLE families ADD COLUMN acr text NOT NULL DEFAULT ''`,
	`ALTER TABLE families ADD COLUMN auth_time {ts}`,
	`CREATE TABLE access_tokens (
		hash {bytes} PRIMARY KEY,
		jti text NOT NULL,
		family_id {id} NOT NULL REFERENCES families (id) ON DELETE CASCADE,
		scopes text NOT NULL,
		narrowed {bool} NOT NULL,
		key_thumbprint text NOT NULL,
		details text,
		issued_at {ts} NOT NULL,
		expires_at {ts} NOT NULL
	)`,
	`CREATE INDEX access_tokens_family ON access_tokens (family_id)`,
	`CREATE INDEX access_tokens_expires ON access_tokens (expires_at)`,
}}
