package oauth

// How long a client metadata document counts as fresh: draft-ietf-oauth-client-id-metadata-document §5.2, RFC 9111 §4.2.1
// (max-age before Expires), within bounds of our own.

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bounds of caching, and for how long after its freshness ended a document may stand in while it cannot be fetched.
const (
	minDocumentFresh = 5 * time.Minute
	maxDocumentFresh = 24 * time.Hour
	lastGoodCopy     = 24 * time.Hour
)

// documentFreshness is the time for which an answer with these headers is fresh. Without a usable header it is the
// least: asking again costs one conditional request.
func documentFreshness(cacheControl, expires string, now time.Time) time.Duration {
	fresh, said := time.Duration(0), false
	for directive := range strings.SplitSeq(cacheControl, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-store", "no-cache":
			return minDocumentFresh
		case "max-age":
			if n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31); err == nil && !said {
				fresh, said = time.Duration(n)*time.Second, true
			}
		}
	}
	if !said && expires != "" {
		if t, err := http.ParseTime(expires); err == nil {
			fresh = t.Sub(now)
		}
	}
	return min(max(fresh, minDocumentFresh), maxDocumentFresh)
}

// isFresh reports whether the document need not be asked for.
func (d *DocumentState) isFresh(now time.Time) bool { return now.Before(d.FreshUntil) }

// isUsable reports whether the document may stand in when it cannot be fetched.
func (d *DocumentState) isUsable(now time.Time) bool {
	return now.Before(d.FreshUntil.Add(lastGoodCopy))
}
