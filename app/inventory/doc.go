// Package inventory is the domain of things and places: what is where, what is known about it, and how it changes.
//
// Every operation takes the principal who acts, finds the one location it is about, checks role and module there, and
// runs in one transaction of the store. A write leaves its audit entries in the same transaction (see package activity).
// Rows of another location, in the trash, or out of the principal's sight are all the same "not found".
//
// The package decides; it knows neither HTTP nor SQL nor the protocol of the tools. It never deletes anything:
// an undo puts a new row into the trash, and only a purchase noted by mistake goes for good with its undo. Its errors
// never repeat a value that was sent or a text that is stored.
package inventory
