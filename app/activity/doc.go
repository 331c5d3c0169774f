// Package activity is the log of what happened: one numbered event per change in a location, the audit entry a write
// leaves, what differed, and what an undo needs.
//
// Every write to a location goes through one function of the database package that takes a Batch, lets the write add its
// entries to a Log, and stores rows, events and audit entries in one transaction. The numbers of a location's events
// have no gaps, because they are taken from the location's row inside that transaction.
//
// The package is a leaf: it knows neither persons' rights nor things, neither HTTP nor SQL, and never decides whether a
// write is allowed.
package activity
