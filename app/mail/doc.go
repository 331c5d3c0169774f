// Package mail sends the program's few messages: links that prove an address, and notices of changes that somebody else
// might have made.
//
// What is to be sent stands in an outbox in the database, so that nothing is lost when a process ends or the mail server is
// away, and any process may send it. A message says who and what, never a link: links are made at the moment of sending, so
// that no secret lies in the database. It must never log an address or a link.
package mail
