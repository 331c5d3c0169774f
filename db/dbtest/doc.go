// Package dbtest gives tests a migrated database of their own, on SQLite and on Postgres.
//
// Postgres comes from GATEHOUSE_TEST_POSTGRES=postgres://… when set (a server on which the tests may create databases),
// else from a throw-away cluster made with initdb when the server's programs are on the path or in the distribution's
// usual folders. Where neither is there the Postgres half skips loudly; with GATEHOUSE_TEST_ALL=1 that is a failure.
package dbtest
