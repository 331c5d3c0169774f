// Package db keeps everything in SQLite or Postgres. It is the only home of GORM and SQL.
//
// One file per noun holds the rows and the store of that noun. Every store passes the same tests on both databases
// (see dbtest). Transactions stay inside this package: a store method is one atomic step, and a single-use claim is one
// conditional UPDATE that must change one row.
//
// SQLite runs with one writing connection and a pool of reading ones; Postgres has one pool for both. Times are UTC with
// milliseconds: INTEGER milliseconds on SQLite, timestamptz(3) on Postgres; see Timestamp.
package db
