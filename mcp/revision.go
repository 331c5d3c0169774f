package mcp

// Revision is a published version of the protocol, by its date.
type Revision string

// The revisions this package serves.
const (
	Revision20260728 Revision = "2026-07-28"
	Revision20251125 Revision = "2025-11-25"
	Revision20250618 Revision = "2025-06-18"
	Revision20250326 Revision = "2025-03-26"
)

const (
	latestModern = Revision20260728
	latestLegacy = Revision20251125
	oldestLegacy = Revision20250326
)

// Revisions lists what is served, newest first.
func Revisions() []Revision {
	return []Revision{Revision20260728, Revision20251125, Revision20250618, Revision20250326}
}

// Modern reports whether requests of this revision stand alone: version and
// capabilities in _meta, no initialize.
func (r Revision) Modern() bool { return r >= Revision20260728 }

// structured reports whether results of this revision know structuredContent
// and resource links (both came with 2025-06-18).
func (r Revision) structured() bool { return r >= Revision20250618 }

// parseRevision returns the served revision named s. It hands back the
// constant, so that the answer does not hold the request's memory.
func parseRevision(s string) (Revision, bool) {
	switch Revision(s) {
	case Revision20260728:
		return Revision20260728, true
	case Revision20251125:
		return Revision20251125, true
	case Revision20250618:
		return Revision20250618, true
	case Revision20250326:
		return Revision20250326, true
	}
	return "", false
}

// negotiate picks the revision an initialize answer names: the one asked for
// when it has that handshake, else the newest that has it. 2026-07-28 has no
// handshake and is never the outcome.
func negotiate(asked string) Revision {
	if r, ok := parseRevision(asked); ok && !r.Modern() {
		return r
	}
	return latestLegacy
}
