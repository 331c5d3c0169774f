package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Person is somebody who can sign in.
type Person struct {
	ID string
	// Email is folded; see FoldEmail.
	Email  string
	Name   string
	Locale string
	Admin  bool
	// DisabledAt is set while the person may not sign in and nothing acts for them.
	DisabledAt *time.Time
	// EmailVerifiedAt is when it was shown that the address is theirs; nil while it is only their word.
	EmailVerifiedAt *time.Time
	// DeletionDueAt is when the account will be deleted; nil unless the person asked for it.
	DeletionDueAt     *time.Time
	PasswordChangedAt time.Time
	CreatedAt         time.Time
}

// Disabled reports whether the person is shut out.
func (p *Person) Disabled() bool { return p.DisabledAt != nil }

// Credentials are a person and what their password is checked against.
type Credentials struct {
	Person
	PasswordHash string
}

// FirstLocation is the location that a new person starts with, as its owner.
type FirstLocation struct {
	ID       string
	Name     string
	TimeZone string
	Currency string
}

// PersonStore keeps people.
type PersonStore interface {
	// InsertPerson writes a person and their first location with its default modules, and withdraws open setup links, in
	// one step. A known address gives ErrEmailTaken.
	InsertPerson(ctx context.Context, c Credentials, first FirstLocation) error
	// PersonByID gives ErrNotFound for an unknown id.
	PersonByID(ctx context.Context, id string) (*Person, error)
	// CredentialsByEmail finds by the folded address; ErrNotFound for an unknown one.
	CredentialsByEmail(ctx context.Context, email string) (*Credentials, error)
	// People lists everybody by address.
	People(ctx context.Context) ([]Person, error)
	// DisablePerson marks a person and ends their sessions, tokens and connections in one step. The only administrator
	// left gives ErrLastAdmin. EnablePerson takes the mark away; what has ended stays ended.
	DisablePerson(ctx context.Context, id string, at time.Time) error
	EnablePerson(ctx context.Context, id string, at time.Time) error
}

// NewPerson is what makes a person.
type NewPerson struct {
	Email string
	// Name is the part of the address before the @ when empty.
	Name     string
	Password string
	// NoPassword makes a person who signs in by other means alone.
	NoPassword bool
	// Unverified marks an address that is only the person's word.
	Unverified bool
	// Guest makes no location: the person comes into somebody else's.
	Guest bool
	Admin bool
	// LocationName is "Home" when empty, TimeZone "UTC", Currency "EUR".
	LocationName string
	TimeZone     string
	Currency     string
}

// AddPerson makes a person and their first location.
func (s *Service) AddPerson(ctx context.Context, n NewPerson) (*Person, error) {
	c, first, err := s.prepare(ctx, n)
	if err != nil {
		return nil, err
	}
	if err := s.store.InsertPerson(ctx, *c, *first); err != nil {
		return nil, fmt.Errorf("add person: %w", err)
	}
	return &c.Person, nil
}

// Prepare checks a new person who gets no location of their own, and makes their row.
func (s *Service) Prepare(ctx context.Context, n NewPerson) (*Credentials, error) {
	n.Guest = true
	c, _, err := s.prepare(ctx, n)
	return c, err
}

// prepare checks a new person and makes the rows. The costly hash comes last.
func (s *Service) prepare(ctx context.Context, n NewPerson) (*Credentials, *FirstLocation, error) {
	email, err := FoldEmail(n.Email)
	if err != nil {
		return nil, nil, err
	}
	if strings.TrimSpace(n.Name) == "" {
		n.Name, _, _ = strings.Cut(email, "@")
	}
	name, err := CleanName("name", n.Name, 80)
	if err != nil {
		return nil, nil, err
	}
	first, err := s.firstLocation(n)
	if err != nil {
		return nil, nil, err
	}
	hash := "" // matches no password
	if !n.NoPassword {
		if hash, err = s.hashNew(ctx, n.Password, email, name); err != nil {
			return nil, nil, err
		}
	}
	id, err := s.newID()
	if err != nil {
		return nil, nil, err
	}
	now := s.at()
	p := Person{ID: id, Email: email, Name: name, Locale: "en", Admin: n.Admin, PasswordChangedAt: now, CreatedAt: now}
	if !n.Unverified {
		p.EmailVerifiedAt = &now
	}
	return &Credentials{Person: p, PasswordHash: hash}, first, nil
}

func (s *Service) firstLocation(n NewPerson) (*FirstLocation, error) {
	if n.Guest {
		return &FirstLocation{}, nil
	}
	name, err := CleanName("location_name", orElse(n.LocationName, "Home"), 80)
	if err != nil {
		return nil, err
	}
	zone, err := CheckTimeZone("time_zone", orElse(n.TimeZone, "UTC"))
	if err != nil {
		return nil, err
	}
	currency, err := CheckCurrency("currency", orElse(n.Currency, "EUR"))
	if err != nil {
		return nil, err
	}
	id, err := s.newID()
	return &FirstLocation{ID: id, Name: name, TimeZone: zone, Currency: currency}, err
}

func orElse(value, otherwise string) string {
	if strings.TrimSpace(value) == "" {
		return otherwise
	}
	return value
}

// CheckTimeZone accepts the IANA names of time zones.
func CheckTimeZone(path, zone string) (string, error) {
	if zone == "" || zone == "Local" || len(zone) > 64 || !utf8.ValidString(zone) {
		return "", Refuse(CodeValidation, path, "must be the name of a time zone like Europe/Vienna")
	}
	if _, err := time.LoadLocation(zone); err != nil {
		return "", Refuse(CodeValidation, path, "must be the name of a time zone like Europe/Vienna")
	}
	return zone, nil
}

// CheckCurrency accepts codes of three capital letters (ISO 4217).
func CheckCurrency(path, code string) (string, error) {
	if len(code) != 3 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", Refuse(CodeValidation, path, "must be a currency code of three capital letters like EUR")
	}
	return code, nil
}

// PersonByID finds a person; ErrNotFound when there is none.
func (s *Service) PersonByID(ctx context.Context, id string) (*Person, error) {
	return s.store.PersonByID(ctx, id)
}

// PersonByEmail finds a person by their address however it is written; ErrNotFound when there is none.
func (s *Service) PersonByEmail(ctx context.Context, email string) (*Person, error) {
	folded, err := FoldEmail(email)
	if err != nil {
		return nil, err
	}
	c, err := s.store.CredentialsByEmail(ctx, folded)
	if err != nil {
		return nil, err
	}
	return &c.Person, nil
}

// People lists everybody.
func (s *Service) People(ctx context.Context) ([]Person, error) { return s.store.People(ctx) }

// DisablePerson shuts a person out: sessions, personal tokens and connections end at once.
func (s *Service) DisablePerson(ctx context.Context, id string) error {
	return wrap("disable person", s.store.DisablePerson(ctx, id, s.at()))
}

// EnablePerson lets a person sign in again. What had ended stays ended.
func (s *Service) EnablePerson(ctx context.Context, id string) error {
	return wrap("enable person", s.store.EnablePerson(ctx, id, s.at()))
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func notFound(err error) bool { return errors.Is(err, ErrNotFound) }
