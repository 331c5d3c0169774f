package oauth

// The life of signing keys: next, active, retired. RFC 7517 §4.2, §4.4, §4.5; RFC 7638 (thumbprint as kid); RFC 8725.
//
// A key is published before it signs, so that whoever cached the key set knows it already, and stays published until
// the last token it signed has expired. One key has one algorithm, and each algorithm has a life of its own. Every change
// happens in one locked step of the store: two processes agree.

import (
	"context"
	"slices"
	"time"
)

const (
	rsaBits = 3072
	// keyLife is how long a key signs.
	keyLife = 90 * 24 * time.Hour
	// publishAhead is how long a key is published before it signs.
	publishAhead = 24 * time.Hour
	// retiredSpare is added to the longest token life before a retired key goes.
	retiredSpare = time.Hour
)

// EnsureKeys makes sure at start that there is a key to sign with and a next one, and that the sealing key opens them.
func (s *Server) EnsureKeys(ctx context.Context) error {
	return s.changeKeys(ctx, "ensure signing keys", func(keys []SigningKey) ([]SigningKey, error) {
		for i := range keys {
			if keys[i].State == KeyRetired {
				continue
			}
			if _, err := openPrivate(s.cfg.Sealer, &keys[i]); err != nil {
				return nil, err
			}
		}
		return s.ensured(keys)
	})
}

// MaintainKeys is the job. For each algorithm it rotates when the active key has signed for 90 days and the next was
// published for a day; an algorithm that has just been configured takes over then too, and the keys of one that is not
// used any more retire. Retired keys whose tokens have expired are deleted.
func (s *Server) MaintainKeys(ctx context.Context) error {
	return s.changeKeys(ctx, "maintain signing keys", func(keys []SigningKey) ([]SigningKey, error) {
		now := s.now()
		keep := s.longestTokenLife() + retiredSpare
		keys = slices.DeleteFunc(keys, func(k SigningKey) bool {
			return k.State == KeyRetired && k.RetiredAt != nil && k.RetiredAt.Add(keep).Before(now)
		})
		keys, err := s.ensured(keys)
		if err != nil {
			return nil, err
		}
		for _, algorithm := range s.wantedAlgorithms(keys) {
			if rotationDue(keys, algorithm, now) {
				promote(keys, algorithm, now)
			}
		}
		s.retireUnwanted(keys, now)
		return s.ensured(keys)
	})
}

// RotateKeys makes the next key sign now, retires the active one and makes a new next one: for the algorithms named, or
// for all that the store has keys of. It is the administrator's command: it does not wait for the next key to have been
// published long enough, and it goes by the keys that there are, not by this process's configuration, which need not be
// the server's. ErrNotFound when there is no key of a named algorithm.
func (s *Server) RotateKeys(ctx context.Context, algorithms ...string) error {
	return s.changeKeys(ctx, "rotate signing keys", func(keys []SigningKey) ([]SigningKey, error) {
		present := livingAlgorithms(keys)
		if len(present) == 0 {
			return s.ensured(keys)
		}
		chosen := algorithms
		if len(chosen) == 0 {
			chosen = present
		}
		takeover := slices.ContainsFunc(chosen, func(a string) bool { return isTakeover(keys, a) })
		for _, algorithm := range chosen {
			if !slices.Contains(present, algorithm) {
				return nil, ErrNotFound
			}
			var err error
			if keys, err = s.rotated(keys, algorithm, takeover); err != nil {
				return nil, err
			}
		}
		return keys, nil
	})
}

// rotated rotates one algorithm. While another one takes over, a key without a next one is what is being replaced.
func (s *Server) rotated(keys []SigningKey, algorithm string, takeover bool) ([]SigningKey, error) {
	now := s.now()
	if keyOf(keys, KeyNext, algorithm) == nil {
		if active := keyOf(keys, KeyActive, algorithm); takeover && active != nil {
			active.State, active.RetiredAt = KeyRetired, &now
			return keys, nil
		}
		next, err := s.newKey(algorithm, KeyNext)
		if err != nil {
			return nil, err
		}
		keys = append(keys, *next)
	}
	promote(keys, algorithm, now)
	return s.completed(keys, algorithm)
}

// DropKey removes a key at once; every token it signed stops to verify, in other processes within seconds. When it was
// the active one, the next of its algorithm takes its place. ErrNotFound when there is no such key.
func (s *Server) DropKey(ctx context.Context, kid string) error {
	return s.changeKeys(ctx, "drop signing key", func(keys []SigningKey) ([]SigningKey, error) {
		i := slices.IndexFunc(keys, func(k SigningKey) bool { return k.KID == kid })
		if i < 0 {
			return nil, ErrNotFound
		}
		dropped := keys[i]
		keys = slices.Delete(keys, i, i+1)
		switch dropped.State {
		case KeyActive:
			return s.replaced(keys, dropped.Algorithm)
		case KeyNext:
			next, err := s.newKey(dropped.Algorithm, KeyNext)
			if err != nil {
				return nil, err
			}
			keys = append(keys, *next)
		case KeyRetired:
		}
		return keys, nil
	})
}

// replaced puts another key in the place of an active one that is gone: the next of its algorithm, else that of an
// algorithm which was about to take over, else a new one.
func (s *Server) replaced(keys []SigningKey, algorithm string) ([]SigningKey, error) {
	if keyOf(keys, KeyNext, algorithm) == nil {
		present := livingAlgorithms(keys)
		if i := slices.IndexFunc(present, func(a string) bool { return isTakeover(keys, a) }); i >= 0 {
			algorithm = present[i]
		}
	}
	promote(keys, algorithm, s.now())
	return s.completed(keys, algorithm)
}

// promote retires the active key of an algorithm, if any, and makes the next one active, if any.
func promote(keys []SigningKey, algorithm string, now time.Time) {
	next := keyOf(keys, KeyNext, algorithm)
	if next == nil {
		return
	}
	if active := keyOf(keys, KeyActive, algorithm); active != nil {
		active.State, active.RetiredAt = KeyRetired, &now
	}
	next.State, next.ActivatedAt = KeyActive, &now
}

// rotationDue reports whether the next key of an algorithm takes over: it was published long enough, and the active one
// is old or missing.
func rotationDue(keys []SigningKey, algorithm string, now time.Time) bool {
	active, next := keyOf(keys, KeyActive, algorithm), keyOf(keys, KeyNext, algorithm)
	if next == nil || next.CreatedAt.Add(publishAhead).After(now) {
		return false
	}
	return active == nil || active.ActivatedAt == nil || !active.ActivatedAt.Add(keyLife).After(now)
}

// retireUnwanted retires the active keys of algorithms that are not used any more, once the configured one signs.
func (s *Server) retireUnwanted(keys []SigningKey, now time.Time) {
	if keyOf(keys, KeyActive, s.cfg.SigningAlgorithm) == nil {
		return
	}
	wanted := s.wantedAlgorithms(keys)
	for i := range keys {
		if k := &keys[i]; k.State == KeyActive && !slices.Contains(wanted, k.Algorithm) {
			k.State, k.RetiredAt = KeyRetired, &now
		}
	}
}
