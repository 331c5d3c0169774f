// Package limit counts and slows down: windows of calls per key, and growing delays between wrong sign-ins. One table of
// specs names every window there is.
//
// It knows neither HTTP nor SQL, and no other domain: callers choose the keys. It must never lock anybody out for good,
// and never let a window run over its budget, however many processes share the store.
package limit
