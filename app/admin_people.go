package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/home"
	"gatehouse/app/invitation"
	"gatehouse/app/upstream"
)

// SetEmail gives a person another address to sign in with.
func (a *Admin) SetEmail(ctx context.Context, email, next string) error {
	p, err := a.person(ctx, email)
	if err != nil {
		return err
	}
	if err := a.c.accounts.SetEmail(ctx, p.ID, next); err != nil {
		return err
	}
	a.record(ctx, audit.Entry{Action: audit.EmailChanged, PersonID: p.ID, Detail: map[string]string{"email": next}})
	return nil
}

// DeleteUser starts the waiting time after which a person is deleted; it gives its end.
func (a *Admin) DeleteUser(ctx context.Context, email string) (time.Time, error) {
	p, err := a.person(ctx, email)
	if err != nil {
		return time.Time{}, err
	}
	if p.DeletionDueAt != nil {
		return *p.DeletionDueAt, nil
	}
	due, err := a.c.accounts.RequestDeletion(ctx, p.ID)
	if err != nil {
		return time.Time{}, err
	}
	a.record(ctx, audit.Entry{Action: audit.DeletionRequested, PersonID: p.ID})
	return due, nil
}

// KeepUser takes the deletion of a person back.
func (a *Admin) KeepUser(ctx context.Context, email string) error {
	p, err := a.person(ctx, email)
	if err != nil {
		return err
	}
	if p.DeletionDueAt == nil {
		return fmt.Errorf("%s is not about to be deleted", PlainText(email))
	}
	if err := a.c.accounts.KeepPerson(ctx, p.ID); err != nil {
		return err
	}
	a.record(ctx, audit.Entry{Action: audit.DeletionWithdrawn, PersonID: p.ID})
	return nil
}

// Invitation is an open invitation as the commands show it. Link is set only when it was just made.
type Invitation struct {
	ID         string    `json:"id,omitempty"`
	LocationID string    `json:"location_id"`
	Location   string    `json:"location"`
	Role       string    `json:"role"`
	Email      string    `json:"email,omitempty"`
	Inviter    string    `json:"inviter"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"`
	Link       string    `json:"link,omitempty"`
}

// NewInvitation is an invitation to make in the name of a member. Without a location it is for their only one.
type NewInvitation struct {
	As, Location, Role, Email string
}

// ownLocation is the location of a person with the id, or their only one.
func (a *Admin) ownLocation(ctx context.Context, p *account.Person, id string) (*home.Membership, error) {
	list, err := a.c.homes.LocationsOf(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	if id == "" && len(list) != 1 {
		return nil, &UsageError{Message: fmt.Sprintf("%s belongs to %d locations; name one with --location", PlainText(p.Email), len(list))}
	}
	for i := range list {
		if id == "" || list[i].ID == id {
			return &list[i], nil
		}
	}
	return nil, fmt.Errorf("%s has no location %q", PlainText(p.Email), PlainText(id))
}

// Invite makes an invitation. The link is always given, never mailed: whoever runs the command passes it on.
func (a *Admin) Invite(ctx context.Context, n NewInvitation) (Invitation, error) {
	p, err := a.enabledPerson(ctx, n.As)
	if err != nil {
		return Invitation{}, err
	}
	l, err := a.ownLocation(ctx, p, n.Location)
	if err != nil {
		return Invitation{}, err
	}
	link, err := a.c.invitations.Invite(ctx, p.ID, invitation.NewInvitation{LocationID: l.ID, Role: home.Role(n.Role), Email: n.Email, ByHand: true})
	if err != nil {
		return Invitation{}, err
	}
	a.record(ctx, audit.Entry{Action: audit.InvitationMade, PersonID: p.ID, Detail: map[string]string{"role": n.Role, "email": n.Email, "location_id": l.ID}})
	return Invitation{LocationID: l.ID, Location: l.Name, Role: n.Role, Email: n.Email, Inviter: p.Name, Link: link}, nil
}

// Invitations lists the open invitations into the locations of a person.
func (a *Admin) Invitations(ctx context.Context, email string) ([]Invitation, error) {
	p, err := a.person(ctx, email)
	if err != nil {
		return nil, err
	}
	list, err := a.c.homes.LocationsOf(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	out := []Invitation{}
	for _, l := range list {
		open, err := a.c.invitations.List(ctx, home.Owner, l.ID)
		if err != nil {
			return nil, err
		}
		for _, i := range open {
			out = append(out, Invitation{ID: i.ID, LocationID: i.LocationID, Location: i.LocationName, Role: string(i.Role), Email: i.Email,
				Inviter: i.InviterName, ExpiresAt: i.ExpiresAt})
		}
	}
	return out, nil
}

// RevokeInvitation takes an invitation back.
func (a *Admin) RevokeInvitation(ctx context.Context, id string) error {
	i, err := a.c.invitations.ByID(ctx, id)
	if errors.Is(err, account.ErrLinkGone) {
		err = account.ErrNotFound
	}
	if err == nil {
		err = a.c.invitations.Revoke(ctx, i.InvitedBy, i.LocationID, id)
	}
	if err == nil {
		a.record(ctx, audit.Entry{Action: audit.InvitationRevoked, Detail: map[string]string{"invitation": id}})
	}
	return missing(err, "open invitation", id, "invite list --user ADDRESS")
}

// Provider is a provider as the commands show it.
type Provider struct {
	Slug     string    `json:"slug"`
	Name     string    `json:"name"`
	Issuer   string    `json:"issuer"`
	ClientID string    `json:"client_id"`
	Domains  []string  `json:"domains"`
	SignUp   bool      `json:"sign_up"`
	Callback string    `json:"redirect_uri"`
	AddedAt  time.Time `json:"created_at"`
}

// NewProvider is a provider to add.
type NewProvider = upstream.NewProvider

func (a *Admin) providerOf(p *upstream.Provider) Provider {
	return Provider{Slug: p.Slug, Name: p.Name, Issuer: p.Issuer, ClientID: p.ClientID, Domains: append([]string{}, p.Domains...), SignUp: p.SignUp,
		Callback: a.c.upstream.Callback(p.Slug), AddedAt: p.CreatedAt}
}

// AddProvider enters a provider.
func (a *Admin) AddProvider(ctx context.Context, n NewProvider) (Provider, error) {
	p, err := a.c.upstream.Add(ctx, n)
	if err != nil {
		return Provider{}, err
	}
	a.record(ctx, audit.Entry{Action: audit.ProviderAdded, Detail: map[string]string{"provider": p.Slug, "issuer": p.Issuer}})
	return a.providerOf(p), nil
}

// Providers lists the providers.
func (a *Admin) Providers(ctx context.Context) ([]Provider, error) {
	list, err := a.c.upstream.List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Provider, len(list))
	for i := range list {
		out[i] = a.providerOf(&list[i])
	}
	return out, nil
}

// RemoveProvider takes a provider away; with force also when people can sign in with nothing else.
func (a *Admin) RemoveProvider(ctx context.Context, slug string, force bool) error {
	err := a.c.upstream.Remove(ctx, slug, force)
	if errors.Is(err, upstream.ErrInUse) {
		return fmt.Errorf("some people can sign in only with this provider; give them reset links first, or add --force")
	}
	if err == nil {
		a.record(ctx, audit.Entry{Action: audit.ProviderRemoved, Detail: map[string]string{"provider": slug}})
	}
	return missing(err, "provider", slug, "provider list")
}
