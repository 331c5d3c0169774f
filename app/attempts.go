package app

import (
	"context"
	"fmt"
	"time"

	"gatehouse/app/handshake"
	"gatehouse/web"
)

// attempts shows the record of attempts to the pages.
type attempts struct{ handshakes *handshake.Service }

// attemptsShown is how many attempts the page shows, each with its steps.
const attemptsShown = 10

// AttemptsOf lists the latest attempts that were tied to the person.
func (a attempts) AttemptsOf(ctx context.Context, userID string) ([]web.Attempt, error) {
	list, err := a.handshakes.List(ctx, userID)
	if err != nil {
		return nil, err
	}
	var out []web.Attempt
	for i := range list[:min(len(list), attemptsShown)] {
		full, err := a.handshakes.Show(ctx, userID, list[i].ID)
		if err != nil {
			return nil, err
		}
		out = append(out, attemptOf(full))
	}
	return out, nil
}

func attemptOf(a *handshake.Attempt) web.Attempt {
	out := web.Attempt{App: a.ClientName, StartedAt: a.StartedAt, Failed: a.Failed, Done: a.Done()}
	for _, s := range a.Steps {
		out.Steps = append(out.Steps, web.AttemptStep{Title: stepTitle(s.Step), At: s.At, Failed: !s.OK, Reason: s.Reason, Advice: s.Advice, Detail: s.Detail})
	}
	return out
}

// stepTitles are the steps in words.
var stepTitles = map[string]string{
	handshake.StepChallenge:        "The app asked and was told to sign in",
	handshake.StepResourceMetadata: "The app read what this endpoint is",
	handshake.StepServerMetadata:   "The app read how to sign in here",
	handshake.StepRegister:         "The app registered itself",
	handshake.StepDocument:         "The app's description was fetched",
	handshake.StepAuthorize:        "The app's request was checked",
	handshake.StepSignedIn:         "You signed in",
	handshake.StepConsentShown:     "The consent page was shown",
	handshake.StepDecision:         "You decided",
	handshake.StepRedirected:       "The browser was sent back to the app",
	handshake.StepCodeRedeemed:     "The app fetched its tokens",
	handshake.StepTokenRefreshed:   "The app renewed its tokens",
	handshake.StepTokenRevoked:     "The app revoked its tokens",
	handshake.StepReuseDetected:    "An old token was used again",
	handshake.StepFirstRequest:     "The first request with a token",
	handshake.StepFirstToolCall:    "The first tool call",
}

func stepTitle(step string) string {
	if t, ok := stepTitles[step]; ok {
		return t
	}
	return step
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
		out[i] = handshakeOf(&list[i])
	}
	return out, nil
}

// Handshake shows one attempt with its steps, by its id or by the id on an error page.
func (a *Admin) Handshake(ctx context.Context, id string) (Handshake, error) {
	full, err := a.c.handshakes.ShowAny(ctx, id)
	if err != nil {
		return Handshake{}, fmt.Errorf("attempt %s: %w", PlainText(id), err)
	}
	return handshakeOf(full), nil
}

func handshakeOf(h *handshake.Attempt) Handshake {
	out := Handshake{ID: h.ID, StartedAt: h.StartedAt, ClientID: h.ClientID, ClientName: h.ClientName, UserID: h.UserID, IP: h.IP,
		UserAgent: h.UserAgent, Resource: h.Resource, Reached: h.Reached, Failed: h.Failed, Reason: h.Reason}
	for _, s := range h.Steps {
		out.Steps = append(out.Steps, HandshakeStep{At: s.At, Step: s.Step, Title: stepTitle(s.Step), OK: s.OK, Check: s.Check,
			Reason: s.Reason, Detail: s.Detail, Advice: s.Advice})
	}
	return out
}
