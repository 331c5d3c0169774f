// Package migrations holds the numbered steps that bring a database's tables up to date. A step never changes once it
// has been released: its text is frozen, and a later step mends it.
package migrations

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// Migration is one step.
type Migration struct {
	// ID is the number and the noun, "0001_people".
	ID string
	// Statements are run in order. Type names in braces are replaced per dialect; see types.
	Statements []string
	// Only holds statements for one dialect ("sqlite" or "postgres"), run after Statements.
	Only map[string][]string
}

// All lists the steps in order.
func All() []Migration {
	return []Migration{
		people, oauth, inventory, handshake, clientAuth, proofs,
		audit,
		registration,
		grants,
		consent,
		openID,
		factors,
		peopleMore,
		peopleRest,
	}
}

// types are the column types that differ between the databases.
var types = map[string]map[string]string{
	"sqlite":   {"{id}": "TEXT", "{ts}": "INTEGER", "{json}": "TEXT", "{bytes}": "BLOB", "{bool}": "BOOLEAN", "{int}": "INTEGER", "{date}": "TEXT", "{code}": "TEXT"},
	"postgres": {"{id}": "uuid", "{ts}": "timestamptz(3)", "{json}": "jsonb", "{bytes}": "bytea", "{bool}": "boolean", "{int}": "bigint", "{date}": "date", "{code}": "char(6)"},
}

// Run runs one step inside the given transaction.
func Run(tx *gorm.DB, m Migration) error {
	dialect := tx.Name()
	var pairs []string
	for k, v := range types[dialect] {
		pairs = append(pairs, k, v)
	}
	replace := strings.NewReplacer(pairs...)
	for _, s := range append(append([]string{}, m.Statements...), m.Only[dialect]...) {
		if err := tx.Exec(replace.Replace(s)).Error; err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
	}
	return nil
}
