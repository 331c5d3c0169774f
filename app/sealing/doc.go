// Package sealing encrypts the small secrets that the database keeps (private signing keys, seeds) under a key that the
// database does not hold: AES-256-GCM, with the purpose and the row's id bound in, so that a sealed value opens only
// where it was put.
//
// The key comes from the settings or from a file beside the SQLite database, which the first start creates. A check
// value in the database keeps a program with a wrong key from starting. The key is never logged, never stored in the
// database, and a key file is never overwritten.
package sealing
