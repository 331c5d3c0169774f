// Package web is Gatehouse over HTTP in a browser's and an OAuth client's eyes: the metadata documents, the endpoints of
// the authorization server, and the pages. A handler decodes a request once into a typed value, makes one call, and
// renders; it returns its error, and errors.go alone writes errors.
//
// It owns cookies, form tokens, CORS, security headers and the words people read. It decides nothing that package oauth
// or a domain decides, knows no SQL, reads no clock and no randomness but those it is given, and never logs a URL's
// query, a form or a header that can hold a secret.
package web
