// Package apptest drives the whole program from outside for tests and benchmarks: it builds and starts the real binary
// on a temporary database, and walks its pages like a person with a browser and no JavaScript.
//
// It must never be imported by the program itself.
package apptest
