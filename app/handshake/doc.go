// Package handshake keeps the record of connection attempts: how far an app came on its way from the first refused
// request to the first tool call, and which check stopped it.
//
// It is told of events and ties them to attempts; the store does the tying in the database, because the steps of one
// attempt may pass through different processes. Recording never slows or fails the request it is about: a full queue
// drops the event, and the drops are counted. Events carry shapes and never secrets. The package decides nothing about
// access and is read by people alone.
package handshake
