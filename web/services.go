package web

import (
	"context"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/connection"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/app/toolgrant"
)

// Accounts is what pages ask of the domain of people; account.Service is one.
type Accounts interface {
	SignIns
	SignInFactors
	Factors
	Sessions
	Links
	Tokens
	PeopleAdmin
}

// SignIns signs people in and out.
type SignIns interface {
	SignIn(ctx context.Context, email, password string, from account.Device) (*account.Session, string, error)
	SessionBySecret(ctx context.Context, secret string) (*account.Session, error)
	SignOut(ctx context.Context, secret string) error
	ChangePassword(ctx context.Context, session *account.Session, current, next string, from account.Device) (*account.Session, string, error)
	// People are asked for only to tell whether there is anybody.
	People(ctx context.Context) ([]account.Person, error)
	PersonByID(ctx context.Context, id string) (*account.Person, error)
	// StrongestSignIn is how strongly a person could sign in.
	StrongestSignIn(ctx context.Context, userID string) (string, error)
}

// Sessions lists and ends a person's sessions.
type Sessions interface {
	Sessions(ctx context.Context, userID string) ([]account.Session, error)
	EndSession(ctx context.Context, userID, id string) error
	EndOtherSessions(ctx context.Context, userID, keepID string) error
}

// Links are the one-time links.
type Links interface {
	CheckSetup(ctx context.Context, token string) error
	CompleteSetup(ctx context.Context, token string, n account.NewPerson) (*account.Person, error)
	CheckReset(ctx context.Context, token string) (*account.Person, error)
	CompleteReset(ctx context.Context, token, password string, forget bool) (*account.Person, error)
}

// Tokens are a person's personal tokens.
type Tokens interface {
	Tokens(ctx context.Context, userID string) ([]account.PersonalToken, error)
	CreateToken(ctx context.Context, userID string, n account.NewToken) (*account.CreatedToken, error)
	RevokeToken(ctx context.Context, userID, id string) error
}

// Homes is what pages ask of the domain of locations; home.Service is one.
type Homes interface {
	// Choices are the locations that a person can hand to an app.
	Choices(ctx context.Context, userID string) ([]home.Access, error)
	LocationsOf(ctx context.Context, userID string) ([]home.Membership, error)
	// PrincipalOfPerson is somebody who acts in a browser themselves.
	PrincipalOfPerson(ctx context.Context, p account.Person) (*home.Principal, error)
}

// Things is what pages ask of the inventory; inventory.Service is one.
type Things interface {
	GetThing(ctx context.Context, p *home.Principal, at inventory.At, thingID string) (inventory.ThingDetail, error)
}

// Connections is what pages ask of the domain of connections; connection.Service is one.
type Connections interface {
	List(ctx context.Context, userID string) ([]connection.Connection, error)
	// EndedSince lists a person's own connections that ended at the time or later, the latest first.
	EndedSince(ctx context.Context, userID string, since time.Time) ([]connection.Connection, error)
	Get(ctx context.Context, userID, id string) (*connection.Connection, error)
	Existing(ctx context.Context, userID, clientID, resource string) (*connection.Connection, error)
	Edit(ctx context.Context, userID, id string, e connection.Edit) error
	Disconnect(ctx context.Context, userID, id string) error
	EndInstallation(ctx context.Context, userID, id string) error
	// CheckTools refuses a choice of tools that leaves none, and limits that no tool has.
	CheckTools(resource string, hidden []string, tools *toolgrant.Grant) error
	CheckLocations(ctx context.Context, userID string, ids []string) error
	ConnectionsAdmin
}

// Attempt is one recorded attempt to connect.
type Attempt struct {
	ID string
	// App is the client's name as far as known.
	App       string
	StartedAt time.Time
	// Failed says that a check refused, Done that the app was connected, Ended that it was and is no more.
	Failed, Done, Ended bool
	Steps               []AttemptStep
}

// AttemptStep is one step of an attempt, in words for people.
type AttemptStep struct {
	Title  string
	At     time.Time
	Failed bool
	// Reason is why a check refused, Advice what to do about it, Detail a short fact.
	Reason, Advice, Detail string
}

// Attempts reads the record of attempts.
type Attempts interface {
	// AttemptsOf lists the latest attempts that were tied to the person, the newest first.
	AttemptsOf(ctx context.Context, userID string) ([]Attempt, error)
	// AttemptsStamp changes whenever an attempt of the person does.
	AttemptsStamp(ctx context.Context, userID string) (string, error)
	AttemptsAdmin
}

// Event is a step of a connection attempt that only the pages see.
type Event struct {
	Step string
	OK   bool
	// ClientID, RequestID (the correlation of the authorization request) and UserID tie steps together, as far as known.
	ClientID, RequestID, UserID string
	// Detail is a short fact without secrets.
	Detail string
	// Address and UserAgent are the caller's; HTTPRequestID is the id of the HTTP request.
	Address, UserAgent, HTTPRequestID string
}

// Steps of events.
const (
	StepResourceMetadata = "resource_metadata"
	StepServerMetadata   = "server_metadata"
	StepSignedIn         = "signed_in"
	StepRedirected       = "redirected"
)

// Observer is told of events.
type Observer interface {
	ObserveEvent(ctx context.Context, e Event)
}
