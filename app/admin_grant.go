package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/app/trust"
	"gatehouse/oauth"
)

// NewGrant is access that a client gets for a person, without that person's consent page.
type NewGrant struct {
	ClientID string
	// User is the person's e-mail address.
	User string
	// Scopes are the permissions; Locations are ids or names of the person's locations.
	Scopes, Locations []string
}

// Grant gives a client access for a person. It gives the connection's id and the resource, which follows from the public URL
// of the settings.
func (a *Admin) Grant(ctx context.Context, n NewGrant) (id, resource string, err error) {
	resource = a.c.oauth.Resources()[0].URI
	p, err := a.enabledPerson(ctx, n.User)
	if err != nil {
		return "", "", err
	}
	locations, err := a.locationsNamed(ctx, p, n.Locations)
	if err != nil {
		return "", "", err
	}
	id, err = a.c.grants.Give(ctx, connection.NewGrant{ClientID: n.ClientID, UserID: p.ID, Resource: resource, Scopes: n.Scopes, Locations: locations})
	if err != nil {
		return "", "", explainGrant(err)
	}
	a.c.audit.Record(ctx, audit.Entry{Actor: audit.ActorCLI, Action: audit.ClientGranted, PersonID: p.ID, ClientID: n.ClientID, ConnectionID: id,
		Detail: map[string]string{"scopes": strings.Join(n.Scopes, " ")}})
	return id, resource, nil
}

// explainGrant says what a person at a terminal can understand.
func explainGrant(err error) error {
	var e *oauth.Error
	if errors.As(err, &e) && e.Cause == nil {
		return errors.New(strings.TrimSuffix(e.Description, "."))
	}
	return err
}

// locationsNamed finds a person's locations by id or name.
func (a *Admin) locationsNamed(ctx context.Context, p *account.Person, wanted []string) ([]string, error) {
	list, err := a.c.homes.LocationsOf(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	var out, words []string
	for _, m := range list {
		words = append(words, PlainText(m.Location.Name)+" "+m.Location.ID)
	}
	for _, want := range wanted {
		var found []string
		for _, m := range list {
			if want == m.Location.ID || strings.EqualFold(want, m.Location.Name) {
				found = append(found, m.Location.ID)
			}
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("%s has not exactly one location %q; theirs: %s", PlainText(p.Email), PlainText(want), strings.Join(words, ", "))
		}
		out = append(out, found[0])
	}
	return out, nil
}

// AllowDevices switches the device grant of a client.
func (a *Admin) AllowDevices(ctx context.Context, id string, allow bool) error {
	if err := a.c.clients.AllowDevices(ctx, id, allow); err != nil {
		return missingClient(err, id)
	}
	a.c.audit.Record(ctx, audit.Entry{Actor: audit.ActorCLI, Action: audit.ClientDevices, ClientID: id, Detail: map[string]string{"allowed": yesNo(allow)}})
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Issuer is a trusted issuer as the commands show it.
type Issuer struct {
	Issuer        string          `json:"issuer"`
	Tenant        string          `json:"tenant,omitempty"`
	JWKSURI       string          `json:"jwks_uri,omitempty"`
	JWKS          json.RawMessage `json:"jwks,omitempty"`
	Algorithms    []string        `json:"algorithms"`
	Domains       []string        `json:"domains,omitempty"`
	CreatesPeople bool            `json:"creates_people"`
	SingleUse     bool            `json:"single_use"`
	Scopes        []string        `json:"scopes"`
	Locations     []string        `json:"location_ids,omitempty"`
	IgnoredClaims []string        `json:"ignored_claims,omitempty"`
	CreatedAt     time.Time       `json:"created_at"`
}

// Issuers lists the trusted issuers.
func (a *Admin) Issuers(ctx context.Context) ([]Issuer, error) {
	list, err := a.c.issuers.List(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Issuer, len(list))
	for i := range list {
		out[i] = Issuer(list[i])
	}
	return out, nil
}

// AddIssuer trusts an issuer from now on.
func (a *Admin) AddIssuer(ctx context.Context, i Issuer) error {
	if err := a.c.issuers.Add(ctx, trust.Issuer(i)); err != nil {
		return err
	}
	a.c.audit.Record(ctx, audit.Entry{Actor: audit.ActorCLI, Action: audit.IssuerAdded, Detail: map[string]string{"issuer": i.Issuer}})
	return nil
}

// RemoveIssuer ends the trust in an issuer and what stands on it.
func (a *Admin) RemoveIssuer(ctx context.Context, issuer string) error {
	err := a.c.issuers.Remove(ctx, issuer)
	if errors.Is(err, trust.ErrNotFound) {
		return fmt.Errorf("there is no issuer %q; `gatehouse issuer list` shows them", PlainText(issuer))
	}
	if err == nil {
		a.c.audit.Record(ctx, audit.Entry{Actor: audit.ActorCLI, Action: audit.IssuerRemoved, Detail: map[string]string{"issuer": issuer}})
	}
	return err
}
