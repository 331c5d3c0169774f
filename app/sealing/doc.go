// Package sealing encrypts the small secrets that the database keeps (private signing keys, seeds): AES-256-GCM, with the
// purpose and the row's id bound in, so that a sealed value opens only where it was put.
//
// They are sealed under a data key, which lies in the database sealed under the secret key, which the database does not
// hold: it comes from the settings, from a command, or from a file beside the SQLite database that the first start
// creates. A program with a wrong key does not start. Rewrap changes the secret key by sealing the data key anew. Neither
// key is ever logged, and a key file is never overwritten by Load.
package sealing
