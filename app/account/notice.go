package account

import "context"

// Notice is something that a person should hear of, because somebody else might have done it.
type Notice struct {
	// Kind is one of the Notice… constants.
	Kind string
	// To is the address it goes to, Name the person's name and Locale their language.
	To, Name, Locale string
	// Detail is a short fact: an address, an issuer, a date.
	Detail string
}

// Kinds of notices.
const (
	NoticePassword    = "password_changed"
	NoticeEmail       = "email_changed"
	NoticeLinked      = "identity_linked"
	NoticeUnlinked    = "identity_unlinked"
	NoticeDeletion    = "deletion_requested"
	NoticeKept        = "deletion_withdrawn"
	NoticeReset       = "reset"
	NoticeSignUp      = "sign_up"
	NoticeEmailChange = "email_change"
	NoticeInvitation  = "invitation"
)

// notify tells a person of a change of their account.
func (s *Service) notify(ctx context.Context, p *Person, kind, detail string) {
	if s.tell != nil {
		s.tell(ctx, Notice{Kind: kind, To: p.Email, Name: p.Name, Locale: p.Locale, Detail: detail})
	}
}

// notifyByID is notify for somebody who is known by their id alone. A notice that cannot be made is left out: what it
// would tell of has happened.
func (s *Service) notifyByID(ctx context.Context, userID, kind, detail string) {
	if s.tell == nil {
		return
	}
	if p, err := s.store.PersonByID(ctx, userID); err == nil {
		s.notify(ctx, p, kind, detail)
	}
}
