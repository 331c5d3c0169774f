// Package lang puts the words of pages into the language of whoever reads them.
//
// # Purpose
//
// The English text is the key: T(ctx, "Sign in") gives the text in the language that With put into the context, and the
// English one where the catalogue has none. N does the same for counts, with the plural forms that the language has. A
// catalogue is one JSON file per language in catalog/, embedded in the binary.
//
// # Border
//
// It knows languages, directions and plural rules; which language a request gets is decided by the caller with Match. It
// imports nothing of ours, so that pages and whatever prepares texts for pages may use it.
//
// # What it must never do
//
// Return HTML: every text is plain and is escaped where it is shown. Fail: a text without a translation is English.
package lang
