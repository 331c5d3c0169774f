package migrations

// consent adds what a person decides beyond scopes and locations (authorization details, RFC 9396), what a client asks to
// be done with its connection (grant management), and the sealed answer for a second click.
var consent = Migration{ID: "0011_consent", Statements: []string{
	`ALTER TABLE authorization_codes ADD COLUMN details text`,
	`ALTER TABLE authorization_codes ADD COLUMN grant_action text NOT NULL DEFAULT ''`,
	`ALTER TABLE authorization_codes ADD COLUMN grant_id {id}`,
	`ALTER TABLE connections ADD COLUMN details text`,
	`ALTER TABLE families ADD COLUMN details text`,
	`ALTER TABLE authorization_requests ADD COLUMN decided_by text`,
	`ALTER TABLE authorization_requests ADD COLUMN answer_sealed {bytes}`,
}}
