package web

import (
	"context"
	"net/url"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/app/invitation"
	"gatehouse/app/upstream"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// People is what lets people in and out, beyond signing in.
type People struct {
	Persons     Persons
	Members     Members
	Invitations Invitations
	Upstream    Upstream
	Letters     Letters
}

func (p People) complete() bool {
	return p.Persons != nil && p.Members != nil && p.Invitations != nil && p.Upstream != nil && p.Letters != nil
}

// Persons changes accounts; account.Service is one.
type Persons interface {
	SignUpRules() account.SignUpPolicy
	CheckSignUp(ctx context.Context, token string) (email string, err error)
	CompleteSignUp(ctx context.Context, token string, n account.NewPerson) (*account.Person, error)
	CheckEmailChange(ctx context.Context, token string) (*account.AddressLink, error)
	CompleteEmailChange(ctx context.Context, token string, session *account.Session) error
	SetEmail(ctx context.Context, userID, email string) error
	Identities(ctx context.Context, userID string) ([]account.Identity, error)
	Unlink(ctx context.Context, userID, keepSession, id string) error
	DeletionFacts(ctx context.Context, userID string) (account.DeletionFacts, error)
	DeletionWait() time.Duration
	RequestDeletion(ctx context.Context, userID string) (time.Time, error)
	KeepPerson(ctx context.Context, userID string) error
}

// Members changes who belongs to a location; home.Service is one.
type Members interface {
	Members(ctx context.Context, actorID, locationID string) ([]home.MemberOf, error)
	ChangeRole(ctx context.Context, actorID, locationID, personID string, role home.Role) error
	RemoveMember(ctx context.Context, actorID, locationID, personID string) error
	TransferLocation(ctx context.Context, actorID, locationID, personID string) error
}

// Invitations brings people into locations; invitation.Service is one.
type Invitations interface {
	Invite(ctx context.Context, actorID string, n invitation.NewInvitation) (link string, err error)
	List(ctx context.Context, role home.Role, locationID string) ([]invitation.Invitation, error)
	Revoke(ctx context.Context, actorID, locationID, id string) error
	Check(ctx context.Context, token string) (*invitation.Invitation, error)
	Accept(ctx context.Context, i *invitation.Invitation, personID string) error
	AcceptNew(ctx context.Context, i *invitation.Invitation, n account.NewPerson) (*account.Person, error)
}

// Upstream signs in at providers; upstream.Service is one.
type Upstream interface {
	Add(ctx context.Context, n upstream.NewProvider) (*upstream.Provider, error)
	List(ctx context.Context) ([]upstream.Provider, error)
	Remove(ctx context.Context, slug string, force bool) error
	Callback(slug string) string
	Begin(ctx context.Context, slug string, b upstream.Begin) (string, error)
	Finish(ctx context.Context, slug string, a upstream.Answer, session *account.Session, from account.Device) (upstream.Result, error)
}

// Letters asks for letters with links, where there is mail.
type Letters interface {
	On() bool
	Reset(ctx context.Context, email string) error
	SignUp(ctx context.Context, email, locale string) error
	EmailChange(ctx context.Context, p account.Person, email string) error
}

// Paths of these pages.
const (
	signUpPath     = "/signup"
	forgotPath     = "/forgot"
	invitePath     = "/invite"
	emailPath      = "/email"
	identitiesPath = accountPath + "/identities"
	peoplePath     = "/settings/people"
	deletePath     = accountPath + "/delete"
	deletionPath   = "/account/deletion"
	newEmailPath   = accountPath + "/email"
)

func (h *Handlers) peopleRoutes() []Route {
	return []Route{
		// These lead on to a provider, or from one to the app that waits.
		{ClientPage, "/signin/with/:provider", h.SeeSignIn, h.BeginUpstream},
		{ClientPage, "/signin/with/:provider/callback", h.FinishUpstream, nil},
		{ClientPage, identitiesPath, h.Identities, nil},
		{ClientPage, identitiesPath + "/:provider/link", h.SeeIdentities, h.LinkIdentity},
		{Page, identitiesPath + "/:identity/unlink", h.SeeIdentities, h.UnlinkIdentity},

		{ClientPage, signUpPath, h.SignUpPage, h.SignUp},
		{Page, signUpPath + "/confirm", h.ConfirmSignUpPage, h.ConfirmSignUp},
		{Page, forgotPath, h.ForgotPage, h.Forgot},
		{ClientPage, invitePath, h.InvitePage, h.AcceptInvite},

		{Page, newEmailPath, h.NewEmailPage, h.NewEmail},
		{Page, emailPath, h.ConfirmEmailPage, h.ConfirmEmail},
		{Page, accountPath + "/sessions/end-all", h.SeeAccount, h.EndAllSessions},
		{Page, deletePath, h.DeletePage, h.RequestDeletion},
		{Page, deletionPath, h.DeletionPage, h.KeepAccount},

		{Page, peoplePath, h.SomePeople, nil},
		{Page, peoplePath + "/:location", h.LocationPeople, nil},
		{Page, peoplePath + "/:location/invite", h.SeeLocationPeople, h.Invite},
		{Page, peoplePath + "/:location/invitations/:invitation/revoke", h.SeeLocationPeople, h.RevokeInvitation},
		{Page, peoplePath + "/:location/members/:member/role", h.SeeLocationPeople, h.ChangeRole},
		{Page, peoplePath + "/:location/members/:member/remove", h.SeeLocationPeople, h.RemoveMember},
		{Page, peoplePath + "/:location/members/:member/owner", h.SeeLocationPeople, h.HandOver},

		{Page, adminAddressPath, h.AdminAddress, h.ChangeAddress},
		{Page, adminProvidersPath, h.AdminProviders, h.AddProvider},
		{Page, adminProvidersPath + "/:provider/remove", seeAdmin(adminProvidersPath), h.RemoveProvider},
	}
}

const purposeProvider = "provider"

// ways are the buttons of the providers that fit. A list that cannot be read leaves them out: the page is of use without.
func (h *Handlers) ways(c echo.Context, fits func(upstream.Provider) bool) templates.WaysView {
	var w templates.WaysView
	list, err := h.people.Upstream.List(c.Request().Context())
	if err != nil {
		h.log.WarnContext(c.Request().Context(), "could not list providers", "cause", err)
	}
	for _, p := range list {
		if fits == nil || fits(p) {
			w.Providers = append(w.Providers, templates.ProviderView{Name: p.Name, Token: visitOf(c).formToken(purposeProvider + " " + p.Slug),
				Action: templ.SafeURL("/signin/with/" + url.PathEscape(p.Slug))})
		}
	}
	return w
}

// showSignInWays adds what the sign-in page offers besides a password.
func (h *Handlers) showSignInWays(c echo.Context, view *templates.SignInView) {
	view.Ways = h.ways(c, nil)
	view.Ways.Request, view.Ways.Return, view.Ways.Again = view.Request, view.Return, view.Again || view.Confirm
	view.Forgot = h.people.Letters.On() && !view.Confirm
	view.SignUp = h.mayOfferSignUp(c) && !view.Confirm
}

// mayOfferSignUp reports whether there is a way in which somebody could sign up.
func (h *Handlers) mayOfferSignUp(c echo.Context) bool {
	return h.people.Persons.SignUpRules().Open() && (h.people.Letters.On() || len(h.ways(c, signsUp).Providers) > 0)
}

func signsUp(p upstream.Provider) bool { return p.SignUp }

// stopForDeletion sends somebody whose account will be deleted to the page that says so, from everywhere else.
func stopForDeletion(c echo.Context, s *account.Session) error {
	if s.Person.DeletionDueAt == nil || c.Path() == deletionPath || c.Path() == "/signout" || c.Path() == deletionPath+"/" {
		return nil
	}
	return &seeOther{deletionPath}
}

// EndAllSessions signs out everywhere, here too; connections and personal tokens end.
func (h *Handlers) EndAllSessions(c echo.Context) error {
	return h.act(c, purposeEndAll, "/signin", func(ctx context.Context, s *account.Session) error {
		if err := h.accounts.EndOtherSessions(ctx, s.UserID, ""); err != nil {
			return err
		}
		c.SetCookie(h.cookie(h.sessionCookie(), "", 0))
		return nil
	})
}

const purposeEndAll = "end all sessions"

// momentWords is a moment that is still to come.
func momentWords(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// roleName is a role in a word.
func roleName(ctx context.Context, r home.Role) string {
	switch r {
	case home.Owner:
		return lang.T(ctx, "Owner")
	case home.Admin:
		return lang.T(ctx, "Admin")
	case home.Member:
		return lang.T(ctx, "Member")
	case home.Viewer:
		return lang.T(ctx, "Viewer")
	}
	return string(r)
}

// roleMeaning says what a role may do.
func roleMeaning(ctx context.Context, r home.Role) string {
	switch r {
	case home.Admin:
		return lang.T(ctx, "Can change things and places, settings of the location, and members.")
	case home.Member:
		return lang.T(ctx, "Can change things and places.")
	case home.Viewer:
		return lang.T(ctx, "Can look, and change nothing.")
	}
	return ""
}
