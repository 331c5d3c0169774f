// Package trust is about identity providers whose word is taken: with an assertion of theirs (ID-JAG) a client gets tokens
// for a person without that person's consent page.
//
// # Purpose
//
// Administrators enter issuers and remove them. For an assertion whose signature was checked, the service says who the
// person is here, and what a first connection through the issuer holds.
//
// # Border
//
// Package oauth checks assertions and writes connections; package account keeps people and their identities. The key of a
// person is issuer, tenant and subject. An address is believed once, to link somebody, and only of an issuer that owns
// the address' domain.
//
// # What it must never do
//
// Link or make anybody for an address outside the domains of the issuer, or for one that the issuer did not check. Link an
// account whose own address was never shown to be its person's.
package trust
