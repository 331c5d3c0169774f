package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/limit"
	"gatehouse/app/upstream"
	"gatehouse/oauth"
	"gatehouse/templates"
	"gatehouse/templates/lang"
)

// BeginUpstream sends the browser to a provider: to sign in, to sign up, or to accept an invitation.
func (h *Handlers) BeginUpstream(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.SignInTries); err != nil {
		return err
	}
	slug := c.Param("provider")
	form, err := h.readPost(c, purposeProvider+" "+slug)
	if err != nil {
		return err
	}
	b := upstream.Begin{Purpose: upstream.PurposeSignIn, Request: parseRequestID(form.Get("request")), Return: parseReturnPath(form.Get("return")),
		Again: form.Get("again") == "1", Browser: visitOf(c).secret}
	if token := form.Get("invite"); token != "" {
		i, err := h.people.Invitations.Check(c.Request().Context(), token)
		if err != nil {
			return err
		}
		b.Purpose, b.InvitationID, b.Return = upstream.PurposeInvitation, i.ID, ""
	}
	return h.toProvider(c, slug, b)
}

// toProvider sends the browser to a provider.
func (h *Handlers) toProvider(c echo.Context, slug string, b upstream.Begin) error {
	to, err := h.people.Upstream.Begin(c.Request().Context(), slug, b)
	if err != nil {
		return h.upstreamFailed(c, b.Purpose, b.Request, b.Return, err)
	}
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusSeeOther, to)
}

// FinishUpstream takes a provider's answer.
func (h *Handlers) FinishUpstream(c echo.Context) error {
	if err := h.takeByNetwork(c, limit.SignInTries); err != nil {
		return err
	}
	query, err := readQuery(c.Request())
	if err != nil {
		return err
	}
	v, slug := visitOf(c), c.Param("provider")
	r, err := h.people.Upstream.Finish(c.Request().Context(), slug, upstream.Answer{
		State: query.Get("state"), Code: query.Get("code"), Issuer: query.Get("iss"), Error: query.Get("error"), Browser: v.secret,
	}, v.session, device(c))
	a := r.Attempt
	if err != nil {
		if r.Session != nil { // in, and the invitation was refused
			if err := h.openSession(c, r.Session, r.Secret); err != nil {
				return err
			}
		}
		return h.upstreamFailed(c, a.Purpose, a.Request, a.Return, err)
	}
	if r.Linked {
		h.recordLink(c, slug, r)
	}
	if a.Purpose == upstream.PurposeLink {
		return see(c, withDone(identitiesPath, "linked"))
	}
	if err := h.openSession(c, r.Session, r.Secret); err != nil {
		return err
	}
	if a.Request != "" {
		h.note(c, Event{Step: StepSignedIn, OK: true, RequestID: oauth.RequestCorrelation(a.Request), UserID: r.Session.UserID})
	}
	return see(c, signInForm{request: a.Request, path: a.Return}.next())
}

func (h *Handlers) recordLink(c echo.Context, slug string, r upstream.Result) {
	e := audit.Entry{Action: audit.IdentityLinked, PersonID: r.Attempt.UserID, Detail: map[string]string{"provider": slug}}
	if r.Session != nil { // opened by its verified address
		e.PersonID, e.Actor, e.ActorID = r.Session.UserID, audit.ActorPerson, r.Session.UserID
	}
	h.record(c, e)
}

// upstreamFailed shows a refusal where the person came from.
func (h *Handlers) upstreamFailed(c echo.Context, purpose, request, path string, err error) error {
	problem := upstreamProblem(c, err)
	if problem == "" {
		return err
	}
	if errors.Is(err, upstream.ErrProviderAway) {
		h.log.WarnContext(c.Request().Context(), "a provider gave no usable answer", "provider", c.Param("provider"), "cause", err)
	}
	if purpose == upstream.PurposeLink && visitOf(c).signedIn() {
		return h.showIdentities(c, http.StatusUnprocessableEntity, visitOf(c).session, problem)
	}
	return h.showSignIn(c, http.StatusUnprocessableEntity, templates.SignInView{Request: request, Return: path, Problem: problem})
}

// upstreamProblem is the sentence for a refusal that the sign-in page can show; "" for other errors.
func upstreamProblem(c echo.Context, err error) string {
	for _, known := range []*account.Refusal{upstream.ErrOver, upstream.ErrDenied, upstream.ErrProviderAway, upstream.ErrStranger, upstream.ErrKnownAddress,
		upstream.ErrUnverified, upstream.ErrOtherSession, account.ErrIdentityTaken, account.ErrEmailTaken} {
		if errors.Is(err, known) {
			return lang.T(c.Request().Context(), known.Hint)
		}
	}
	return problemOf(c.Request().Context(), err)
}

// Identities shows a person's identities at providers.
func (h *Handlers) Identities(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	return h.showIdentities(c, http.StatusOK, session, "")
}

// SeeIdentities answers a reload of an action's address.
func (h *Handlers) SeeIdentities(c echo.Context) error { return see(c, identitiesPath) }

const purposeLink = "link identity"

func purposeUnlink(id string) string { return "unlink identity " + id }

func (h *Handlers) showIdentities(c echo.Context, status int, session *account.Session, problem string) error {
	ctx := c.Request().Context()
	list, err := h.people.Persons.Identities(ctx, session.UserID)
	if err != nil {
		return err
	}
	providers, err := h.people.Upstream.List(ctx)
	if err != nil {
		return err
	}
	v := visitOf(c)
	view := templates.IdentitiesView{Shell: h.shell(c, lang.T(ctx, "Sign in with an account elsewhere"), templates.NavAccount), Problem: problem}
	names := map[string]string{}
	for _, p := range providers {
		names[p.Issuer] = p.Name
		view.Ways.Providers = append(view.Ways.Providers, templates.ProviderView{Name: p.Name, Token: v.formToken(purposeLink + " " + p.Slug),
			Action: templ.SafeURL(identitiesPath + "/" + url.PathEscape(p.Slug) + "/link")})
	}
	for _, i := range list {
		view.Identities = append(view.Identities, templates.IdentityView{Name: orElse(names[i.Issuer], i.Issuer), Email: i.Email, Linked: h.timeView(ctx, i.CreatedAt),
			LastUsed: h.timeViewOf(ctx, i.LastUsedAt), Token: v.formToken(purposeUnlink(i.ID)),
			Action: templ.SafeURL(identitiesPath + "/" + url.PathEscape(i.ID) + "/unlink")})
	}
	return render(c, status, templates.Identities(view))
}

// LinkIdentity sends the browser to a provider to link an identity.
func (h *Handlers) LinkIdentity(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	slug := c.Param("provider")
	if _, err := h.readPost(c, purposeLink+" "+slug); err != nil {
		return err
	}
	if _, err := h.requireFresh(c, identitiesPath); err != nil {
		return err
	}
	return h.toProvider(c, slug, upstream.Begin{Purpose: upstream.PurposeLink, UserID: session.UserID, Browser: visitOf(c).secret})
}

// UnlinkIdentity removes an identity.
func (h *Handlers) UnlinkIdentity(c echo.Context) error {
	session, err := h.requireSession(c)
	if err != nil {
		return err
	}
	id := c.Param("identity")
	if _, err := h.readPost(c, purposeUnlink(id)); err != nil {
		return err
	}
	if _, err := h.requireFresh(c, identitiesPath); err != nil {
		return err
	}
	err = h.people.Persons.Unlink(c.Request().Context(), session.UserID, session.ID, id)
	if errors.Is(err, account.ErrLastWayIn) {
		return h.showIdentities(c, http.StatusUnprocessableEntity, session, lang.T(c.Request().Context(), account.ErrLastWayIn.Hint))
	}
	if err != nil {
		return err
	}
	h.record(c, audit.Entry{Action: audit.IdentityUnlinked, PersonID: session.UserID})
	return see(c, withDone(identitiesPath, "unlinked"))
}
