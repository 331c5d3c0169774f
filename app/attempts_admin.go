package app

import (
	"context"
	"errors"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/handshake"
	"gatehouse/web"
)

// AttemptsStamp changes whenever an attempt of the person does.
func (a attempts) AttemptsStamp(ctx context.Context, userID string) (string, error) {
	return a.handshakes.Stamp(ctx, userID)
}

// FindAttempts lists everybody's attempts without their steps.
func (a attempts) FindAttempts(ctx context.Context, f web.AttemptFilter) ([]web.AnyAttempt, bool, error) {
	list, more, err := a.handshakes.Find(ctx, handshake.Filter{UserID: f.PersonID, Client: f.Client, Address: f.Address, Failed: f.Failed, Offset: f.Offset, Limit: f.Limit})
	if err != nil {
		return nil, false, err
	}
	addresses := map[string]string{}
	out := make([]web.AnyAttempt, len(list))
	for i := range list {
		out[i] = anyAttempt(ctx, &list[i], true)
		if out[i].Person, err = a.address(ctx, addresses, list[i].UserID); err != nil {
			return nil, false, err
		}
	}
	return out, more, nil
}

// FindAttempt gives one attempt with its steps.
func (a attempts) FindAttempt(ctx context.Context, id string) (*web.AnyAttempt, error) {
	full, err := a.handshakes.ShowAny(ctx, id)
	if errors.Is(err, handshake.ErrNotFound) {
		return nil, web.ErrNoAttempt
	}
	if err != nil {
		return nil, err
	}
	live := false
	if full.ConnectionID != "" {
		list, err := a.connections.ListAll(ctx, connection.Filter{ID: full.ConnectionID})
		if err != nil {
			return nil, err
		}
		live = len(list) == 1
	}
	out := anyAttempt(ctx, full, live)
	out.Person, err = a.address(ctx, map[string]string{}, full.UserID)
	return &out, err
}

func anyAttempt(ctx context.Context, a *handshake.Attempt, live bool) web.AnyAttempt {
	return web.AnyAttempt{Attempt: attemptOf(ctx, a, live), PersonID: a.UserID, ClientID: a.ClientID, ConnectionID: a.ConnectionID,
		Resource: a.Resource, Address: a.IP, UserAgent: a.UserAgent, LastAt: a.LastAt, Reason: a.Reason}
}

// address is a person's e-mail address; empty for nobody and for somebody who is gone.
func (a attempts) address(ctx context.Context, known map[string]string, id string) (string, error) {
	if email, ok := known[id]; ok || id == "" {
		return email, nil
	}
	p, err := a.people.PersonByID(ctx, id)
	if account.CodeOf(err) == account.CodeNotFound {
		known[id] = ""
		return "", nil
	}
	if err != nil {
		return "", err
	}
	known[id] = p.Email
	return p.Email, nil
}
