package invitation_test

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/app/invitation"
	"gatehouse/app/limit"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

var ctx = context.Background()

const password = "seven green herons"

type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, p string) (string, error) { return "x" + p, nil }
func (plainHasher) Verify(_ context.Context, p, h string) (bool, bool, error) {
	return h == "x"+p, false, nil
}

// house is one process with an owner of a location.
type house struct {
	*invitation.Service
	accounts *account.Service
	homes    *home.Service
	clock    *dbtest.Clock
	owner    *account.Person
	location string
	mailed   []invitation.Invitation
}

func newHouse(t *testing.T, d *db.DB, clock *dbtest.Clock, mail bool) *house {
	t.Helper()
	h := &house{clock: clock}
	var err error
	if h.accounts, err = account.New(account.Config{Now: clock.Now, Rand: rand.Reader, Store: d, PublicURL: "https://home.example", Hasher: plainHasher{},
		SignIns: limit.NewSignIns(clock.Now, d, limit.New(limit.Config{Now: clock.Now}))}); err != nil {
		t.Fatal(err)
	}
	if h.homes, err = home.New(home.Config{Now: clock.Now, Rand: rand.Reader, Store: d}); err != nil {
		t.Fatal(err)
	}
	c := invitation.Config{Now: clock.Now, Rand: rand.Reader, Store: d, Accounts: h.accounts, PublicURL: "https://home.example"}
	if mail {
		c.Mail = func(_ context.Context, i invitation.Invitation) error { h.mailed = append(h.mailed, i); return nil }
	}
	if h.Service, err = invitation.New(c); err != nil {
		t.Fatal(err)
	}
	return h
}

func each(t *testing.T, mail bool, f func(t *testing.T, h *house, d *db.DB)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		h := newHouse(t, d, clock, mail)
		h.owner = h.person(t, "owner@example.org")
		list, err := h.homes.LocationsOf(ctx, h.owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		h.location = list[0].ID
		f(t, h, d)
	})
}

func (h *house) person(t *testing.T, email string) *account.Person {
	t.Helper()
	p, err := h.accounts.AddPerson(ctx, account.NewPerson{Email: email, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (h *house) invite(t *testing.T, role home.Role) (token string, i *invitation.Invitation) {
	t.Helper()
	link, err := h.Invite(ctx, h.owner.ID, invitation.NewInvitation{LocationID: h.location, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	token, ok := strings.CutPrefix(link, "https://home.example/invite?token=")
	if !ok {
		t.Fatalf("link %q", link)
	}
	if i, err = h.Check(ctx, token); err != nil {
		t.Fatal(err)
	}
	return token, i
}

func (h *house) roleOf(t *testing.T, userID string) home.Role {
	t.Helper()
	list, err := h.homes.LocationsOf(ctx, userID)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		if m.ID == h.location {
			return m.Role
		}
	}
	return ""
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if account.CodeOf(err) != code {
		t.Errorf("%s: got %v, want %s", what, err, code)
	}
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	each(t, false, func(t *testing.T, h *house, _ *db.DB) {
		token, i := h.invite(t, home.Member)
		if i.InviterName != h.owner.Name || i.LocationName != "Home" || i.Role != home.Member {
			t.Errorf("what a link shows: %+v", i)
		}
		bob := h.person(t, "bob@example.org")
		if err := h.Accept(ctx, i, bob.ID); err != nil || h.roleOf(t, bob.ID) != home.Member {
			t.Fatalf("accepted: %v, as %q", err, h.roleOf(t, bob.ID))
		}
		_, err := h.Check(ctx, token)
		wantCode(t, "a link that was used", err, account.CodeGone)
		wantCode(t, "the invitation again", h.Accept(ctx, i, h.person(t, "eve@example.org").ID), account.CodeGone)

		_, i = h.invite(t, home.Viewer)
		wantCode(t, "somebody who is a member", h.Accept(ctx, i, bob.ID), account.CodeConflict)
		if list, _ := h.List(ctx, home.Owner, h.location); len(list) != 1 {
			t.Errorf("a refused invitation was used up: %+v", list)
		}
		if list, _ := h.List(ctx, home.Member, h.location); len(list) != 0 {
			t.Errorf("a member sees invitations: %+v", list)
		}
		for role, want := range map[home.Role]string{home.Owner: account.CodeValidation, "x": account.CodeValidation} {
			_, err := h.Invite(ctx, h.owner.ID, invitation.NewInvitation{LocationID: h.location, Role: role})
			wantCode(t, "role "+string(role), err, want)
		}
		_, err = h.Invite(ctx, bob.ID, invitation.NewInvitation{LocationID: h.location, Role: home.Viewer})
		wantCode(t, "a member invites", err, account.CodeForbidden)
		_, err = h.Invite(ctx, h.person(t, "stranger@example.org").ID, invitation.NewInvitation{LocationID: h.location, Role: home.Viewer})
		wantCode(t, "a stranger invites", err, account.CodeNotFound)
		if err := h.homes.ChangeRole(ctx, h.owner.ID, h.location, bob.ID, home.Admin); err != nil {
			t.Fatal(err)
		}
		_, err = h.Invite(ctx, bob.ID, invitation.NewInvitation{LocationID: h.location, Role: home.Admin})
		wantCode(t, "an admin invites an admin", err, account.CodeForbidden)
		wantCode(t, "a member takes back", h.Revoke(ctx, "x", h.location, i.ID), account.CodeNotFound)
		if err := h.Revoke(ctx, bob.ID, h.location, i.ID); err != nil {
			t.Fatal(err)
		}
		wantCode(t, "one that was taken back", h.Accept(ctx, i, h.person(t, "late@example.org").ID), account.CodeGone)

		late, _ := h.invite(t, home.Viewer)
		h.clock.Advance(7*24*time.Hour + time.Second)
		_, err = h.Check(ctx, late)
		wantCode(t, "after 7 days", err, account.CodeGone)
	})
}

// Whoever invited must still be allowed to when the invitation is accepted.
func TestInviterLostTheirRole(t *testing.T) {
	t.Parallel()
	each(t, false, func(t *testing.T, h *house, _ *db.DB) {
		bob := h.person(t, "bob@example.org")
		if err := h.homes.AddMember(ctx, h.owner.ID, h.location, bob.ID, home.Admin); err != nil {
			t.Fatal(err)
		}
		link, err := h.Invite(ctx, bob.ID, invitation.NewInvitation{LocationID: h.location, Role: home.Member})
		if err != nil {
			t.Fatal(err)
		}
		_, token, _ := strings.Cut(link, "token=")
		i, err := h.Check(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.homes.RemoveMember(ctx, h.owner.ID, h.location, bob.ID); err != nil {
			t.Fatal(err)
		}
		_, err = h.AcceptNew(ctx, i, account.NewPerson{Email: "eve@example.org", Name: "Eve", Password: password})
		wantCode(t, "an invitation of somebody who left", err, account.CodeGone)
		if _, err := h.accounts.PersonByEmail(ctx, "eve@example.org"); account.CodeOf(err) != account.CodeNotFound {
			t.Errorf("a person was made by it: %v", err)
		}
	})
}

// A mailed link proves the address that it went to; one passed on by hand proves none.
func TestWhatAnInvitationProves(t *testing.T) {
	t.Parallel()
	each(t, true, func(t *testing.T, h *house, _ *db.DB) {
		for _, c := range []struct {
			name, to, as string
			byHand       bool
			verified     bool
		}{
			{"mailed there", "eve@example.org", "EVE@example.org", false, true}, {"mailed elsewhere", "a@example.org", "b@example.org", false, false},
			{"by hand", "c@example.org", "c@example.org", true, false}, {"to nobody", "", "d@example.org", false, false},
		} {
			h.mailed = nil
			link, err := h.Invite(ctx, h.owner.ID, invitation.NewInvitation{LocationID: h.location, Role: home.Viewer, Email: c.to, ByHand: c.byHand})
			if err != nil {
				t.Fatal(err)
			}
			if len(h.mailed) == 1 {
				if link != "" {
					t.Errorf("%s: the link was shown to who invites too", c.name)
				}
				if _, link, err = h.Relink(ctx, h.mailed[0].ID); err != nil {
					t.Fatal(err)
				}
			}
			_, token, _ := strings.Cut(link, "token=")
			i, err := h.Check(ctx, token)
			if err != nil {
				t.Fatal(err)
			}
			p, err := h.AcceptNew(ctx, i, account.NewPerson{Email: c.as, Name: "Eve", Password: password, Admin: true})
			if err != nil || (p.EmailVerifiedAt != nil) != c.verified || p.Admin {
				t.Errorf("%s: %+v, %v; want verified %t", c.name, p, err, c.verified)
			}
			if list, _ := h.homes.LocationsOf(ctx, p.ID); len(list) != 1 {
				t.Errorf("%s: who came by invitation has %d locations", c.name, len(list))
			}
		}
	})
}

// Two processes accept one invitation for many people at once: one member more.
func TestInvitationRace(t *testing.T) {
	t.Parallel()
	each(t, false, func(t *testing.T, h *house, d *db.DB) {
		both := []*house{h, newHouse(t, dbtest.Again(t, d, h.clock.Now), h.clock, false)}
		_, i := h.invite(t, home.Member)
		known := h.person(t, "known@example.org")
		var won atomic.Int32
		var wg sync.WaitGroup
		for n := range 12 {
			wg.Go(func() {
				var err error
				if n%3 == 0 {
					err = both[n%2].Accept(ctx, i, known.ID)
				} else {
					_, err = both[n%2].AcceptNew(ctx, i, account.NewPerson{Email: string(rune('a'+n)) + "@example.org", Name: "N", Password: password})
				}
				switch account.CodeOf(err) {
				case "":
					if err != nil {
						t.Error(err)
					}
					won.Add(1)
				case account.CodeGone, account.CodeConflict:
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		members, err := h.homes.Members(ctx, h.owner.ID, h.location)
		people, _ := h.accounts.People(ctx)
		if err != nil || won.Load() != 1 || len(members) != 2 || len(people) > 3 {
			t.Errorf("%d accepted, %d members, %d people: %v", won.Load(), len(members), len(people), err)
		}
	})
}

func FuzzCheck(f *testing.F) {
	d := dbtest.Open(f, dbtest.SQLiteURL(f), time.Now)
	accounts, err := account.New(account.Config{Now: time.Now, Rand: rand.Reader, Store: d, Hasher: plainHasher{}, SignIns: limit.NewSignIns(time.Now, d, limit.New(limit.Config{Now: time.Now}))})
	if err != nil {
		f.Fatal(err)
	}
	s, err := invitation.New(invitation.Config{Now: time.Now, Rand: rand.Reader, Store: d, Accounts: accounts})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("gsi_" + strings.Repeat("A", 43))
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, token string) {
		if i, err := s.Check(ctx, token); i != nil || account.CodeOf(err) != account.CodeGone {
			t.Errorf("%q: %+v, %v", token, i, err)
		}
	})
}
