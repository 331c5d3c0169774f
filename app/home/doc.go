// Package home is the domain of locations: who belongs to one, in which role, which modules are on, and what a principal
// may do there. It decides; it knows neither HTTP nor SQL.
//
// Roles, modules and memberships are read anew for every request: it must never keep one in memory, and never take one
// from a token.
package home
