package connection

import (
	"context"
	"slices"
	"time"

	"gatehouse/app/toolgrant"
)

// ScopeRule is a scope that a resource knows, with the scopes it includes.
type ScopeRule struct {
	Name    string
	Implies []string
	// Identity marks what tells the app who the person is; it acts nowhere.
	Identity bool
	// Reserved scopes are not for people to add: a connection can only keep them.
	Reserved bool
}

// Service is what the settings page and the command line do with connections.
type Service struct {
	Store Store
	Now   func() time.Time
	// Scopes gives the scopes of a resource in their order; none for a resource that is gone.
	Scopes func(resource string) []ScopeRule
	// Located reports whether connections to a resource act at locations. Such a connection keeps at least one.
	Located func(resource string) bool
	// Tools gives the tools of a resource that can be chosen one by one; nil, and none, when there are no such tools.
	Tools func(resource string) toolgrant.Catalog
}

// List lists a person's own live connections.
func (s *Service) List(ctx context.Context, userID string) ([]Connection, error) {
	if userID == "" {
		return nil, ErrNotFound
	}
	return s.Store.ListConnections(ctx, Filter{UserID: userID}, s.Now())
}

// EndedSince lists a person's own connections that ended or expired at the time or later, the latest first.
func (s *Service) EndedSince(ctx context.Context, userID string, since time.Time) ([]Connection, error) {
	if userID == "" {
		return nil, ErrNotFound
	}
	list, err := s.Store.ListConnections(ctx, Filter{UserID: userID, Ended: true}, s.Now())
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(c Connection) bool { return c.Live(s.Now()) || c.Over().Before(since) })
	slices.SortStableFunc(list, func(a, b Connection) int { return b.Over().Compare(a.Over()) })
	return list, nil
}

// Get gives one of a person's own connections, ended ones too.
func (s *Service) Get(ctx context.Context, userID, id string) (*Connection, error) {
	if userID == "" || id == "" {
		return nil, ErrNotFound
	}
	list, err := s.Store.ListConnections(ctx, Filter{UserID: userID, ID: id, Ended: true}, s.Now())
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, ErrNotFound
	}
	return &list[0], nil
}

// Existing gives the person's live connection of a client and resource, or nil: what approving again would change.
func (s *Service) Existing(ctx context.Context, userID, clientID, resource string) (*Connection, error) {
	if userID == "" || clientID == "" {
		return nil, nil
	}
	list, err := s.Store.ListConnections(ctx, Filter{UserID: userID, ClientID: clientID}, s.Now())
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Resource == resource {
			return &list[i], nil
		}
	}
	return nil, nil
}

// Locations lists the locations the person may let an app act at.
func (s *Service) Locations(ctx context.Context, userID string) ([]Location, error) {
	return s.Store.MemberLocations(ctx, userID)
}

// Edit changes scopes, locations and hidden tools of a person's own live connection, effective on the next call.
func (s *Service) Edit(ctx context.Context, userID, id string, e Edit) error {
	c, err := s.Get(ctx, userID, id)
	if err != nil {
		return err
	}
	if !c.Live(s.Now()) {
		return ErrNotFound
	}
	if e.Scopes, err = s.chooseScopes(c.Resource, e.Scopes, c.Scopes); err != nil {
		return err
	}
	if e.ExpiresAt != nil && !e.ExpiresAt.After(s.Now()) {
		return invalid("expires", "The chosen end has passed.")
	}
	if err := s.CheckTools(c.Resource, e.Terms.HiddenTools, e.Tools); err != nil {
		return err
	}
	if !s.acts(c.Resource, e.Scopes) && len(e.Terms.Locations) == 0 {
		err = e.Terms.Check() // who may only know who the person is needs no location
	} else {
		err = s.checkTerms(ctx, userID, c.Resource, e.Terms)
	}
	if err != nil {
		return err
	}
	return s.Store.EditConnection(ctx, userID, id, e, c.Resource, s.Now())
}

// CheckTools refuses a choice of tools that leaves none, and limits that no tool has.
func (s *Service) CheckTools(resource string, hidden []string, tools *toolgrant.Grant) error {
	if s.Tools == nil {
		return nil
	}
	catalog := s.Tools(resource)
	if err := tools.Check(catalog); err != nil {
		return invalid("tool", "One of these tools or limits does not exist.")
	}
	if details, err := tools.Details(resource); err != nil {
		return err
	} else if len(details) > toolgrant.MaxDetails {
		return invalid("tool", "These limits are too long.")
	}
	left := slices.ContainsFunc(catalog, func(t toolgrant.Tool) bool {
		return tools.Allows(t.Name, t.Write) && !slices.Contains(hidden, t.Name)
	})
	if len(catalog) > 0 && !left {
		return invalid("tool", "Tick at least one tool.")
	}
	return nil
}

// acts reports whether one of the scopes lets the app do something.
func (s *Service) acts(resource string, scopes []string) bool {
	return slices.ContainsFunc(s.Scopes(resource), func(r ScopeRule) bool { return !r.Identity && slices.Contains(scopes, r.Name) })
}

// chooseScopes gives the wanted scopes with all that they include, in the resource's order.
func (s *Service) chooseScopes(resource string, wanted, held []string) ([]string, error) {
	rules := s.Scopes(resource)
	have := map[string]bool{}
	for _, name := range wanted {
		i := slices.IndexFunc(rules, func(r ScopeRule) bool { return r.Name == name })
		if i < 0 || rules[i].Reserved && !slices.Contains(held, name) {
			return nil, invalid("scope", "There is no permission called \"{name}\".", "name", name)
		}
		have[name] = true
	}
	for range rules { // as often as an inclusion can be chained
		for _, r := range rules {
			for _, implied := range r.Implies {
				have[implied] = have[implied] || have[r.Name]
			}
		}
	}
	var out []string
	for _, r := range rules {
		if have[r.Name] {
			out = append(out, r.Name)
		}
	}
	if len(out) == 0 {
		return nil, invalid("scope", "A connection needs at least one permission. Disconnect it to take away the last one.")
	}
	return out, nil
}

func (s *Service) checkTerms(ctx context.Context, userID, resource string, t Terms) error {
	if err := t.Check(); err != nil {
		return err
	}
	if !s.Located(resource) {
		if len(t.Locations) > 0 {
			return invalid("location", "This app does not act at locations.")
		}
		return nil
	}
	if len(t.Locations) == 0 {
		return invalid("location", "A connection needs at least one location. Disconnect it to take away the last one.")
	}
	return s.CheckLocations(ctx, userID, t.Locations)
}

// CheckLocations refuses locations that the person does not belong to.
func (s *Service) CheckLocations(ctx context.Context, userID string, ids []string) error {
	mine, err := s.Store.MemberLocations(ctx, userID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(mine, func(l Location) bool { return l.ID == id }) {
			return invalid("location", "You do not belong to one of these locations.")
		}
	}
	return nil
}

// Disconnect ends a person's own connection and all tokens it issued.
func (s *Service) Disconnect(ctx context.Context, userID, id string) error {
	if userID == "" {
		return ErrNotFound
	}
	return s.Store.CloseConnection(ctx, userID, id, EndedByUser, s.Now())
}

// EndInstallation ends one installation of a person's own connection.
func (s *Service) EndInstallation(ctx context.Context, userID, id string) error {
	if userID == "" {
		return ErrNotFound
	}
	return s.Store.CloseInstallation(ctx, userID, id, EndedByUser, s.Now())
}

// ListAll lists everybody's connections, for administrators.
func (s *Service) ListAll(ctx context.Context, f Filter) ([]Connection, error) {
	return s.Store.ListConnections(ctx, f, s.Now())
}

// End ends anybody's connection, for administrators.
func (s *Service) End(ctx context.Context, id string) error {
	return s.Store.CloseConnection(ctx, "", id, EndedByAdmin, s.Now())
}

// EndAnyInstallation ends one installation of anybody's connection, for administrators.
func (s *Service) EndAnyInstallation(ctx context.Context, id string) error {
	return s.Store.CloseInstallation(ctx, "", id, EndedByAdmin, s.Now())
}
