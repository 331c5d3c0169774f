// Package fetch makes outgoing requests to addresses that strangers chose: client metadata documents and clients'
// key sets today.
//
// The guard stands at the dial: it judges the address that a connection is really made to, so that neither a name that
// resolves differently a moment later nor an unusual spelling of an address gets around it. Special-use addresses are
// refused (RFC 6890 and the registries of IANA); an administrator may allow networks, except those where clouds keep
// their credentials. Redirects are not followed, proxies from the environment and cookies are not used, and time and
// size are bounded.
//
// Border: this package knows URLs, addresses and limits. What an answer means is for its caller. It must never follow a
// redirect, send a credential, or decide by the name of a host alone that its address is fine.
package fetch
