// Package policy is what administrators decide about clients while the server runs: who may register, which hosts are
// trusted, and the tokens with which clients register where one is asked for.
//
// # Purpose
//
// One saved policy replaces the program's settings until it is taken back. It is read anew for every request that
// depends on it, so that all processes on a database agree at once.
//
// # Border
//
// What follows from a policy is decided by package oauth. This package keeps and checks it, and knows neither HTTP nor SQL.
//
// # What it must never do
//
// Keep a registration token other than as its hash. Remember a policy between two requests.
package policy
