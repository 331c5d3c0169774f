// Package logo gets the logos of clients and makes them fit to be shown: small PNG pictures of our own making.
//
// # Purpose
//
// A client's document may name a logo. It is fetched under the guard of the documents, read as PNG, JPEG or WebP, drawn
// anew at 96 pixels at most and kept no longer than the document is fresh. People's browsers never ask the client's host.
//
// # Border
//
// It knows clients by id, the address of their logo and how long their document is fresh. Which pages show a logo and who
// may look at it is not its matter.
//
// # What it must never do
//
// Hand out bytes that it did not encode itself. Decode a picture before its size was checked.
package logo
