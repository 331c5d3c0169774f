package migrations

// peopleMore makes the table of upstream identities: who somebody is at another server, and which person that is here.
var peopleMore = Migration{ID: "0014_people_more", Statements: []string{
	`CREATE TABLE identities (
		id {id} PRIMARY KEY,
		user_id {id} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
		issuer text NOT NULL CHECK (length(issuer) BETWEEN 1 AND 2000),
		tenant text NOT NULL,
		subject text NOT NULL CHECK (length(subject) BETWEEN 1 AND 255),
		email text NOT NULL,
		created_at {ts} NOT NULL,
		last_used_at {ts},
		UNIQUE (issuer, tenant, subject)
	)`,
	`CREATE INDEX identities_user ON identities (user_id)`,
}}
