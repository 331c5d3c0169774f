package migrations

import (
	"fmt"
	"strings"
)

// inventory makes the tables of things and places and of the event log. Names are compared and ordered by their key, byte
// by byte on both databases.
var inventory = Migration{
	ID: "0003_inventory",
	Statements: []string{
		`CREATE TABLE place_kinds (
			id {id} PRIMARY KEY,
			location_id {id} REFERENCES locations (id) ON DELETE CASCADE,
			key text NOT NULL CHECK (length(key) BETWEEN 1 AND 40),
			label text NOT NULL CHECK (length(label) BETWEEN 1 AND 60),
			fields {json} NOT NULL,
			row_version {int} NOT NULL DEFAULT 1,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL
		)`,
		`CREATE UNIQUE INDEX place_kinds_key ON place_kinds (location_id, key)`,
		`CREATE UNIQUE INDEX place_kinds_built_in ON place_kinds (key) WHERE location_id IS NULL`,
		`CREATE TABLE places (
			id {id} PRIMARY KEY,
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			short_code {code} NOT NULL UNIQUE,
			parent_id {id} REFERENCES places (id),
			kind text NOT NULL CHECK (length(kind) BETWEEN 1 AND 40),
			name text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
			name_key text NOT NULL,
			child_order text NOT NULL CHECK (child_order IN ('custom', 'name', 'kind')),
			position {int} NOT NULL,
			custom {json} NOT NULL,
			is_unplaced {bool} NOT NULL,
			converted_to_id {id},
			row_version {int} NOT NULL DEFAULT 1,
			trashed_at {ts},
			trashed_by {id} REFERENCES users (id) ON DELETE SET NULL,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL
		)`,
		`CREATE INDEX places_parent ON places (parent_id)`,
		`CREATE UNIQUE INDEX places_unplaced ON places (location_id) WHERE is_unplaced`,
		`CREATE UNIQUE INDEX places_name_top ON places (location_id, name_key)
			WHERE parent_id IS NULL AND trashed_at IS NULL AND converted_to_id IS NULL`,
		`CREATE UNIQUE INDEX places_name_inside ON places (parent_id, name_key)
			WHERE parent_id IS NOT NULL AND trashed_at IS NULL AND converted_to_id IS NULL`,
		`CREATE TABLE types (
			id {id} PRIMARY KEY,
			location_id {id} REFERENCES locations (id) ON DELETE CASCADE,
			key text NOT NULL CHECK (length(key) BETWEEN 1 AND 40),
			name text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
			name_key text NOT NULL,
			fields {json} NOT NULL,
			is_container {bool} NOT NULL,
			is_consumable {bool} NOT NULL,
			is_vehicle {bool} NOT NULL,
			warranty_months {int},
			row_version {int} NOT NULL DEFAULT 1,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL
		)`,
		`CREATE UNIQUE INDEX types_name ON types (location_id, name_key)`,
		`CREATE UNIQUE INDEX types_built_in ON types (key) WHERE location_id IS NULL`,
		`CREATE TABLE brands (
			id {id} PRIMARY KEY,
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			name text NOT NULL CHECK (length(name) BETWEEN 1 AND 120),
			name_key text NOT NULL,
			warranty_months {int},
			row_version {int} NOT NULL DEFAULT 1,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL,
			UNIQUE (location_id, name_key)
		)`,
		`CREATE TABLE tags (
			id {id} PRIMARY KEY,
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
			name_key text NOT NULL,
			colour text CHECK (length(colour) = 7),
			row_version {int} NOT NULL DEFAULT 1,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL,
			UNIQUE (location_id, name_key)
		)`,
		`CREATE TABLE things (
			id {id} PRIMARY KEY,
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			short_code {code} NOT NULL UNIQUE,
			name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
			name_key text NOT NULL,
			place_id {id} REFERENCES places (id),
			container_id {id} REFERENCES things (id),
			quantity {int} NOT NULL CHECK (quantity BETWEEN 0 AND 100000),
			type_id {id} REFERENCES types (id),
			brand_id {id} REFERENCES brands (id),
			model text NOT NULL CHECK (length(model) <= 120),
			serial text NOT NULL CHECK (length(serial) <= 100),
			notes text NOT NULL CHECK (length(notes) <= 2000),
			condition text CHECK (condition IN ('new', 'good', 'fair', 'poor', 'broken')),
			custom {json} NOT NULL,
			is_container {bool} NOT NULL,
			acquired_on {date},
			value_amount {int},
			value_currency text CHECK (length(value_currency) = 3),
			minimum {int} CHECK (minimum BETWEEN 0 AND 100000),
			lifecycle text NOT NULL CHECK (lifecycle IN ('in_use', 'sold', 'given_away', 'lost', 'disposed', 'stolen',
				'destroyed', 'returned_to_owner')),
			lifecycle_on {date},
			last_seen_at {ts},
			last_seen_by {id} REFERENCES users (id) ON DELETE SET NULL,
			placed_at {ts} NOT NULL,
			split_from_id {id},
			created_by {id} REFERENCES users (id) ON DELETE SET NULL,
			row_version {int} NOT NULL DEFAULT 1,
			trashed_at {ts},
			trashed_by {id} REFERENCES users (id) ON DELETE SET NULL,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL,
			CHECK ((place_id IS NULL) <> (container_id IS NULL)),
			CHECK ((value_amount IS NULL) = (value_currency IS NULL)),
			CHECK (NOT is_container OR quantity = 1)
		)`,
		`CREATE INDEX things_place ON things (place_id)`,
		`CREATE INDEX things_container ON things (container_id)`,
		`CREATE INDEX things_name ON things (location_id, name_key, id)`,
		`CREATE INDEX things_containers ON things (location_id) WHERE is_container AND trashed_at IS NULL`,
		`CREATE INDEX things_ended ON things (location_id, name_key, id) WHERE lifecycle <> 'in_use'`,
		`CREATE TABLE thing_aliases (
			thing_id {id} NOT NULL REFERENCES things (id) ON DELETE CASCADE,
			position {int} NOT NULL,
			alias text NOT NULL CHECK (length(alias) BETWEEN 1 AND 120),
			alias_key text NOT NULL,
			PRIMARY KEY (thing_id, position)
		)`,
		`CREATE TABLE thing_tags (
			thing_id {id} NOT NULL REFERENCES things (id) ON DELETE CASCADE,
			tag_id {id} NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
			PRIMARY KEY (thing_id, tag_id)
		)`,
		`CREATE INDEX thing_tags_tag ON thing_tags (tag_id)`,
		// A code outlives its subject: it is never given again.
		`CREATE TABLE short_codes (
			code {code} PRIMARY KEY,
			subject_type text CHECK (subject_type IN ('thing', 'place')),
			subject_id {id},
			assigned_at {ts},
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL
		)`,
		`CREATE INDEX short_codes_subject ON short_codes (subject_id)`,
		`CREATE TABLE purchases (
			id {id} PRIMARY KEY,
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			purchased_on {date},
			seller text NOT NULL CHECK (length(seller) <= 120),
			reference text NOT NULL CHECK (length(reference) <= 120),
			row_version {int} NOT NULL DEFAULT 1,
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL
		)`,
		`CREATE TABLE purchase_lines (
			id {id} PRIMARY KEY,
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			purchase_id {id} NOT NULL REFERENCES purchases (id) ON DELETE CASCADE,
			thing_id {id} NOT NULL UNIQUE REFERENCES things (id) ON DELETE CASCADE,
			price_amount {int},
			price_currency text CHECK (length(price_currency) = 3),
			created_at {ts} NOT NULL,
			updated_at {ts} NOT NULL,
			CHECK ((price_amount IS NULL) = (price_currency IS NULL))
		)`,
		`CREATE INDEX purchase_lines_purchase ON purchase_lines (purchase_id)`,
		// The words under which a thing is found, each with the weight of the best field it occurs in. The program makes
		// them, so that both databases find the same; see app/inventory.
		`CREATE TABLE search_tokens (
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			token text NOT NULL,
			thing_id {id} NOT NULL REFERENCES things (id) ON DELETE CASCADE,
			weight {int} NOT NULL,
			PRIMARY KEY (location_id, token, thing_id)
		)`,
		`CREATE INDEX search_tokens_thing ON search_tokens (thing_id, token, weight)`,
		`CREATE TABLE events (
			id {id} PRIMARY KEY,
			location_id {id} NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
			seq {int} NOT NULL,
			at {ts} NOT NULL,
			action text NOT NULL,
			subject_type text NOT NULL,
			subject_id {id} NOT NULL,
			subject_version {int},
			related_id {id},
			user_id {id} REFERENCES users (id) ON DELETE SET NULL,
			actor_type text NOT NULL CHECK (actor_type IN ('user', 'connection', 'token', 'addon', 'system')),
			connection_id {id},
			token_id {id},
			addon_id {id},
			via text NOT NULL CHECK (via IN ('web', 'rest', 'mcp', 'console', 'addon', 'system')),
			ip text,
			request_id text NOT NULL,
			batch_id {id} NOT NULL,
			companion_of {id},
			changes {json} NOT NULL,
			undo {json},
			undo_until {ts},
			undone_by {id},
			undo_of {id},
			UNIQUE (location_id, seq)
		)`,
		`CREATE INDEX events_subject ON events (subject_id, seq)`,
		`CREATE INDEX events_batch ON events (batch_id)`,
		`CREATE INDEX events_connection ON events (connection_id, at)`,
		`CREATE INDEX events_token ON events (token_id, at)`,
	},
	Only: map[string][]string{
		"sqlite": builtIns("0, 0"),
		"postgres": append(builtIns("to_timestamp(0), to_timestamp(0)"), byteOrder("places.name_key", "types.name_key", "brands.name_key",
			"tags.name_key", "things.name_key", "thing_aliases.alias_key", "search_tokens.token")...),
	},
}

// byteOrder makes Postgres compare columns byte by byte whatever the database's language; SQLite always does.
func byteOrder(columns ...string) []string {
	var out []string
	for _, c := range columns {
		table, column, _ := strings.Cut(c, ".")
		out = append(out, `ALTER TABLE `+table+` ALTER COLUMN `+column+` TYPE text COLLATE "C"`)
	}
	return out
}

// builtIns are the kinds and types every location has. Their ids are fixed; at is created_at and updated_at.
func builtIns(at string) []string {
	var out []string
	for i, k := range []string{"floor:Floor", "room:Room", "zone:Zone", "closet:Closet", "unplaced:Unplaced"} {
		key, label, _ := strings.Cut(k, ":")
		out = append(out, fmt.Sprintf(`INSERT INTO place_kinds (id, location_id, key, label, fields, created_at, updated_at)
			VALUES ('01900000-0000-7000-8000-0000000001%02x', NULL, '%s', '%s', '[]', %s)`, i, key, label, at))
	}
	for i, k := range []string{"appliance:Appliance", "bike:Bike", "book:Book", "box:Box", "car:Car", "clothing:Clothing",
		"consumable:Consumable", "document:Document", "electronics:Electronics", "furniture:Furniture",
		"instrument:Instrument", "other:Other", "tool:Tool", "toy:Toy"} {
		key, name, _ := strings.Cut(k, ":")
		out = append(out, fmt.Sprintf(`INSERT INTO types (id, location_id, key, name, name_key, fields, is_container, is_consumable,
			is_vehicle, created_at, updated_at) VALUES ('01900000-0000-7000-8000-0000000002%02x', NULL, '%s', '%s', '%s', '[]',
			%t, %t, %t, %s)`, i, key, name, key, key == "box", key == "consumable", key == "car" || key == "bike", at))
	}
	return out
}
