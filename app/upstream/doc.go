// Package upstream signs people in at other servers by OpenID Connect: administrators enter providers, people press a
// provider's button, and what it vouches for becomes an identity of a person here.
//
// It decides what an answer of a provider means (a sign-in, a link, a new person, a refusal) and keeps the sign-ins under
// way in the database, so that any process can take the answer. Protocol and signatures are those of coreos/go-oidc; every
// request goes through the guarded client it is given. It must never keep or forward a provider's tokens, never take an
// answer in another browser than the one that began, and never link an account by an address unless an administrator trusts
// the provider for it.
package upstream
