package app

import (
	"context"
	"slices"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/handshake"
	"gatehouse/templates/lang"
	"gatehouse/web"
)

// attempts shows the record of attempts to the pages.
type attempts struct {
	handshakes  *handshake.Service
	connections *connection.Service
	people      *account.Service
}

// attemptsShown is how many attempts the page shows, each with its steps.
const attemptsShown = 10

// AttemptsOf lists the latest attempts that were tied to the person.
func (a attempts) AttemptsOf(ctx context.Context, userID string) ([]web.Attempt, error) {
	list, err := a.handshakes.List(ctx, userID)
	if err != nil {
		return nil, err
	}
	lives, err := a.connections.List(ctx, userID)
	if err != nil {
		return nil, err
	}
	var out []web.Attempt
	for i := range list[:min(len(list), attemptsShown)] {
		full, err := a.handshakes.Show(ctx, userID, list[i].ID)
		if err != nil {
			return nil, err
		}
		live := slices.ContainsFunc(lives, func(c connection.Connection) bool { return c.ID == full.ConnectionID })
		out = append(out, attemptOf(ctx, full, live))
	}
	return out, nil
}

// attemptOf puts an attempt into words. live says that its connection goes on.
func attemptOf(ctx context.Context, a *handshake.Attempt, live bool) web.Attempt {
	out := web.Attempt{ID: a.ID, App: a.ClientName, StartedAt: a.StartedAt, Ended: a.Ended() || a.Fetched() && !live}
	out.Failed, out.Done = a.Failed && !out.Ended, a.Done() && !out.Ended
	for _, s := range a.Steps {
		out.Steps = append(out.Steps, web.AttemptStep{Title: stepTitle(ctx, s.Step, s.OK), At: s.At, Failed: !s.OK, Reason: s.Reason, Advice: lang.T(ctx, s.Advice),
			Detail: detailWords(ctx, s.Step, s.OK, s.Detail)})
	}
	return out
}

// Handshake is a connection attempt as the commands show it.
type Handshake struct {
	ID         string          `json:"id"`
	StartedAt  time.Time       `json:"started_at"`
	ClientID   string          `json:"client_id,omitempty"`
	ClientName string          `json:"client_name,omitempty"`
	UserID     string          `json:"user_id,omitempty"`
	IP         string          `json:"ip,omitempty"`
	UserAgent  string          `json:"user_agent,omitempty"`
	Resource   string          `json:"resource,omitempty"`
	Reached    string          `json:"reached,omitempty"`
	Failed     bool            `json:"failed"`
	Reason     string          `json:"reason,omitempty"`
	Steps      []HandshakeStep `json:"steps,omitempty"`
}

// HandshakeStep is a step of an attempt.
type HandshakeStep struct {
	At     time.Time `json:"at"`
	Step   string    `json:"step"`
	Title  string    `json:"title"`
	OK     bool      `json:"ok"`
	Check  string    `json:"check,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Detail string    `json:"detail,omitempty"`
	Advice string    `json:"advice,omitempty"`
}

// Handshakes lists the latest connection attempts of everybody.
func (a *Admin) Handshakes(ctx context.Context, limit int) ([]Handshake, error) {
	list, err := a.c.handshakes.ListAll(ctx, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Handshake, len(list))
	for i := range list {
		out[i] = handshakeOf(ctx, &list[i])
	}
	return out, nil
}

// Handshake shows one attempt with its steps, by its id or by the id on an error page.
func (a *Admin) Handshake(ctx context.Context, id string) (Handshake, error) {
	full, err := a.c.handshakes.ShowAny(ctx, id)
	if err != nil {
		return Handshake{}, missing(err, "connection attempt", id, "handshake list")
	}
	return handshakeOf(ctx, full), nil
}

func handshakeOf(ctx context.Context, h *handshake.Attempt) Handshake {
	out := Handshake{ID: h.ID, StartedAt: h.StartedAt, ClientID: h.ClientID, ClientName: h.ClientName, UserID: h.UserID, IP: h.IP,
		UserAgent: h.UserAgent, Resource: h.Resource, Reached: h.Reached, Failed: h.Failed, Reason: h.Reason}
	for _, s := range h.Steps {
		out.Steps = append(out.Steps, HandshakeStep{At: s.At, Step: s.Step, Title: stepTitle(ctx, s.Step, s.OK), OK: s.OK, Check: s.Check,
			Reason: s.Reason, Detail: s.Detail, Advice: s.Advice})
	}
	return out
}
