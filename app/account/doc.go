// Package account is the domain of people: who they are, how they sign in, their browser sessions, the one-time links
// that start or rescue an account, their passkeys and authenticator apps, and their personal tokens.
//
// It decides; it knows neither HTTP nor SQL, and nothing of locations beyond what a personal token needs to be told. It
// must never store a secret in readable form, never tell a stranger whether an address is known, and never keep anything
// in memory that a second process would need.
package account
