package account

import (
	"context"
	"fmt"
	"time"
)

// DeletionFacts are what stands in the way of a deletion, or goes with it.
type DeletionFacts struct {
	// Alone are the names of locations that belong to the person alone: they go too.
	Alone []string
	// Shared are the names of locations that the person owns with others in them: they must be handed over first.
	Shared []string
	// LastAdmin says that nobody else administers the installation.
	LastAdmin bool
}

// DeletionStore deletes people.
type DeletionStore interface {
	// DeletionFacts reads what stands in the way.
	DeletionFacts(ctx context.Context, userID string) (DeletionFacts, error)
	// RequestDeletion notes when a person is to be deleted, and ends their access, in one step, when decide agrees.
	RequestDeletion(ctx context.Context, userID string, due, at time.Time, decide func(DeletionFacts) error) error
	// KeepPerson takes the note away; ErrNotFound when there is none.
	KeepPerson(ctx context.Context, userID string, at time.Time) error
	// DueDeletions lists the people whose time has come.
	DueDeletions(ctx context.Context, now time.Time) ([]string, error)
	// DeletePerson deletes a person whose time has come, with the locations that belong to them alone, in one step. One with
	// others in it passes to the member of the highest role who has been there the longest. The last administrator gives
	// ErrLastAdmin, somebody whose time has not come ErrNotFound.
	DeletePerson(ctx context.Context, userID string, now time.Time) error
}

// errStillAdmin says that the only administrator cannot go.
var errStillAdmin = Refuse(CodeConflict, "", "You are the only administrator. Make somebody else one first.")

func (f DeletionFacts) check() error {
	switch {
	case f.LastAdmin:
		return errStillAdmin
	case len(f.Shared) > 0:
		return Refuse(CodeConflict, "", "You own locations that other people use. Hand them over first.")
	}
	return nil
}

// DeletionFacts says what stands in the way of a person's deletion, and what would go with it.
func (s *Service) DeletionFacts(ctx context.Context, userID string) (DeletionFacts, error) {
	return s.store.DeletionFacts(ctx, userID)
}

// DeletionWait is the time between the wish and the deletion.
func (s *Service) DeletionWait() time.Duration { return s.wait }

// RequestDeletion notes that a person wants to be deleted and ends everything that acts for them. Until the time comes they
// can sign in and change their mind.
func (s *Service) RequestDeletion(ctx context.Context, userID string) (due time.Time, err error) {
	now := s.at()
	due = now.Add(s.wait)
	if err := s.store.RequestDeletion(ctx, userID, due, now, DeletionFacts.check); err != nil {
		return time.Time{}, fmt.Errorf("request deletion: %w", err)
	}
	s.notifyByID(ctx, userID, NoticeDeletion, due.Format("2 January 2006, 15:04 UTC"))
	return due, nil
}

// KeepPerson takes the wish to be deleted back.
func (s *Service) KeepPerson(ctx context.Context, userID string) error {
	if err := s.store.KeepPerson(ctx, userID, s.at()); err != nil {
		return fmt.Errorf("keep account: %w", err)
	}
	s.notifyByID(ctx, userID, NoticeKept, "")
	return nil
}

// DeleteDue deletes the people whose time has come; it gives how many. Who became the last administrator meanwhile stays.
func (s *Service) DeleteDue(ctx context.Context) (int, error) {
	ids, err := s.store.DueDeletions(ctx, s.at())
	if err != nil {
		return 0, fmt.Errorf("list due deletions: %w", err)
	}
	n := 0
	for _, id := range ids {
		switch err := s.store.DeletePerson(ctx, id, s.at()); {
		case err == nil:
			n++
		case CodeOf(err) == "":
			return n, fmt.Errorf("delete person: %w", err)
		}
	}
	return n, nil
}
