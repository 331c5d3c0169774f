// Package oauthtest helps to test programs built on package oauth: stores in memory, a clock that stands still, a sealer,
// and RunStoreTests, the contract that every store has to keep.
//
// It is for tests alone: the memory store forgets everything, and the sealer's key is known to all. Production code
// never imports it.
package oauthtest
