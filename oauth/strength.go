package oauth

// How strongly a person signed in: OpenID Connect Core §2 and §3.1.2.1 (acr, acr_values), RFC 9470 (step-up), OpenID
// Connect Core Error Code unmet_authentication_requirements.
//
// The values and their order are the embedding program's. A client's acr_values is met by the weakest of its known
// values, and by everything stronger; values that nobody knows here are no demand.

import (
	"slices"
	"strings"
	"time"
)

// StepUp is what a resource demands of the sign-in behind an access token, beyond the token itself (RFC 9470).
type StepUp struct {
	// ACR is the least strength; empty for any.
	ACR string
	// MaxAge is how long ago the person may have signed in; zero for any time.
	MaxAge time.Duration
}

// rank is the place of an acr value among the configured ones, -1 for one that is not.
func (s *Server) rank(acr string) int { return slices.Index(s.cfg.ACRValues, acr) }

// Meets reports whether the sign-in behind a token satisfies a demand.
func (s *Server) Meets(demand StepUp, acr string, authTime time.Time) bool {
	if demand.ACR != "" && s.rank(acr) < s.rank(demand.ACR) {
		return false
	}
	return demand.MaxAge == 0 || !authTime.IsZero() && s.now().Sub(authTime) <= demand.MaxAge
}

// leastRank is the rank that acr_values demands: of the weakest known value, or -1.
func (s *Server) leastRank(acrValues string) int {
	least := -1
	for _, value := range strings.Fields(acrValues) {
		if rank := s.rank(value); rank >= 0 && (least < 0 || rank < least) {
			least = rank
		}
	}
	return least
}

// demand is what a request wants of a person who is signed in.
type demand int

const (
	demandNothing  demand = iota
	demandAgain           // to sign in once more
	demandStronger        // to sign in with more than they did
	demandMore            // more than the person can
)

// demands says what a request that came at the given time wants of who is signed in. A sign-in after the request came
// is always fresh enough.
func (s *Server) demands(r *checkedRequest, who ResourceOwner, requested time.Time) demand {
	if s.rank(who.ACR) < r.leastRank {
		if who.StrongestACR != "" && s.rank(who.StrongestACR) < r.leastRank {
			return demandMore
		}
		return demandStronger
	}
	if !who.AuthTime.Before(requested) {
		return demandNothing
	}
	if slices.Contains(r.prompt, "login") || r.maxAge >= 0 && s.now().Sub(who.AuthTime) > r.maxAge {
		return demandAgain
	}
	return demandNothing
}
