package home_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		owner, admin, admin2, member, viewer, stranger := f.person(t, "owner"), f.person(t, "admin"), f.person(t, "admin2"), f.person(t, "member"), f.person(t, "viewer"), f.person(t, "stranger")
		l := f.newLocation(t, owner, "Workshop")
		f.clock.Advance(time.Second)
		f.add(t, owner, l, admin, home.Admin)
		f.add(t, owner, l, admin2, home.Admin)
		f.add(t, admin, l, member, home.Member)
		f.add(t, admin, l, viewer, home.Viewer)

		list, err := f.Members(ctx, viewer, l)
		if err != nil || len(list) != 5 || list[0].UserID != owner || list[0].Role != home.Owner || list[0].Name != "owner" || list[0].InvitedBy != "" {
			t.Errorf("members %+v, %v", list, err)
		}
		i := slices.IndexFunc(list, func(m home.MemberOf) bool { return m.UserID == viewer })
		if list[i].InvitedBy != admin || !list[i].JoinedAt.Equal(f.clock.Now()) {
			t.Errorf("viewer %+v", list[i])
		}
		_, err = f.Members(ctx, stranger, l)
		wantCode(t, err, account.CodeNotFound)

		for name, c := range map[string]struct {
			do   func() error
			code string
		}{
			"a second owner":               {func() error { return f.AddMember(ctx, owner, l, stranger, home.Owner) }, account.CodeValidation},
			"a role that is none":          {func() error { return f.AddMember(ctx, owner, l, stranger, "root") }, account.CodeValidation},
			"adding twice":                 {func() error { return f.AddMember(ctx, owner, l, member, home.Viewer) }, account.CodeConflict},
			"adding nobody":                {func() error { return f.AddMember(ctx, owner, l, "x", home.Viewer) }, account.CodeNotFound},
			"an admin adds an admin":       {func() error { return f.AddMember(ctx, admin, l, stranger, home.Admin) }, account.CodeForbidden},
			"a member adds":                {func() error { return f.AddMember(ctx, member, l, stranger, home.Viewer) }, account.CodeForbidden},
			"a stranger adds":              {func() error { return f.AddMember(ctx, stranger, l, stranger, home.Viewer) }, account.CodeNotFound},
			"to no location":               {func() error { return f.AddMember(ctx, owner, "x", stranger, home.Viewer) }, account.CodeNotFound},
			"an admin touches an admin":    {func() error { return f.ChangeRole(ctx, admin, l, admin2, home.Viewer) }, account.CodeForbidden},
			"an admin removes an admin":    {func() error { return f.RemoveMember(ctx, admin, l, admin2) }, account.CodeForbidden},
			"an admin touches the owner":   {func() error { return f.ChangeRole(ctx, admin, l, owner, home.Viewer) }, account.CodeForbidden},
			"an admin removes the owner":   {func() error { return f.RemoveMember(ctx, admin, l, owner) }, account.CodeForbidden},
			"an admin promotes":            {func() error { return f.ChangeRole(ctx, admin, l, member, home.Admin) }, account.CodeForbidden},
			"a member promotes themselves": {func() error { return f.ChangeRole(ctx, member, l, member, home.Admin) }, account.CodeForbidden},
			"a viewer removes":             {func() error { return f.RemoveMember(ctx, viewer, l, member) }, account.CodeForbidden},
			"a stranger removes":           {func() error { return f.RemoveMember(ctx, stranger, l, member) }, account.CodeNotFound},
			"a stranger leaves":            {func() error { return f.RemoveMember(ctx, stranger, l, stranger) }, account.CodeNotFound},
			"last_owner steps down":        {func() error { return f.ChangeRole(ctx, owner, l, owner, home.Admin) }, account.CodeLastOwner},
			"last_owner leaves":            {func() error { return f.RemoveMember(ctx, owner, l, owner) }, account.CodeLastOwner},
			"removing nobody":              {func() error { return f.RemoveMember(ctx, owner, l, stranger) }, account.CodeNotFound},
			"an admin transfers":           {func() error { return f.TransferLocation(ctx, admin, l, admin) }, account.CodeForbidden},
			"a stranger transfers":         {func() error { return f.TransferLocation(ctx, stranger, l, stranger) }, account.CodeNotFound},
			"to a stranger":                {func() error { return f.TransferLocation(ctx, owner, l, stranger) }, account.CodeNotFound},
			"to oneself":                   {func() error { return f.TransferLocation(ctx, owner, l, owner) }, account.CodeNotFound},
		} {
			if err := c.do(); account.CodeOf(err) != c.code {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		if list, err := f.Members(ctx, owner, l); err != nil || len(list) != 5 {
			t.Errorf("refusals changed something: %+v, %v", list, err)
		}

		for _, err := range []error{
			f.ChangeRole(ctx, admin, l, member, home.Viewer), f.ChangeRole(ctx, owner, l, viewer, home.Admin),
			f.TransferLocation(ctx, owner, l, member), f.RemoveMember(ctx, admin2, l, admin2),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		for id, want := range map[string]home.Role{owner: home.Admin, member: home.Owner, viewer: home.Admin, admin2: "", admin: home.Admin} {
			if got := f.role(t, l, id); got != want {
				t.Errorf("role %q, want %q", got, want)
			}
		}
	})
}

func TestMemberLimits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		owner := f.person(t, "owner")
		l := f.newLocation(t, owner, "Workshop")
		for n := range 40 {
			f.add(t, owner, l, f.person(t, fmt.Sprintf("p%d", n)), home.Viewer)
		}
		var more []string
		for n := range 20 {
			more = append(more, f.person(t, fmt.Sprintf("q%d", n)))
		}
		won := race(t, account.CodeLimitReached, func(n int) error { return f.AddMember(ctx, owner, l, more[n], home.Viewer) })
		if won != 9 {
			t.Errorf("%d of 20 came in beside 41, want 9", won)
		}

		for n := range 90 { // owner has two already
			f.newLocation(t, owner, fmt.Sprintf("Hut %d", n))
		}
		won = race(t, account.CodeLimitReached, func(int) error {
			_, err := f.CreateLocation(ctx, owner, home.NewLocation{Name: "One more", TimeZone: "UTC"})
			return err
		})
		if won != 8 {
			t.Errorf("%d of 20 locations made beside 92, want 8", won)
		}
		theirs := f.newLocation(t, more[0], "Elsewhere")
		wantCode(t, f.AddMember(ctx, more[0], theirs, owner, home.Viewer), account.CodeLimitReached)
	})
}

func TestLosingAMembership(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		owner, eva := f.person(t, "owner"), f.person(t, "eva")
		kept, lost := f.newLocation(t, eva, "Kept"), f.newLocation(t, owner, "Lost")
		f.add(t, owner, lost, eva, home.Member)
		both, only, ownersOwn := f.token(t, eva, account.TokenWrite, kept, lost), f.token(t, eva, account.TokenRead, lost), f.token(t, owner, account.TokenRead, lost)
		cBoth, cOnly, cOwner := f.connect(t, eva, kept, lost), f.connect(t, eva, lost), f.connect(t, owner, lost)

		t.Run("KE-83 KE-106 a lower role holds from the next call and rewrites nothing", func(t *testing.T) {
			if err := f.ChangeRole(ctx, owner, lost, eva, home.Viewer); err != nil {
				t.Fatal(err)
			}
			p, err := f.PrincipalByToken(ctx, both.Secret)
			if err != nil || p.At(lost) == nil || p.At(lost).Role != home.Viewer || !p.CanWrite() || home.Can(p.At(lost), home.ThingEdit) || !home.Can(p.At(kept), home.ThingEdit) {
				t.Errorf("principal %+v, %v", p, err)
			}
		})
		if err := f.RemoveMember(ctx, owner, lost, eva); err != nil {
			t.Fatal(err)
		}
		check := func(t *testing.T) {
			t.Helper()
			if p, err := f.PrincipalByToken(ctx, both.Secret); err != nil || !slices.Equal(accessIDs(p.Locations), []string{kept}) {
				t.Errorf("token over both: %+v, %v", p, err)
			}
			_, err := f.PrincipalByToken(ctx, only.Secret)
			wantCode(t, err, account.CodeUnauthorized)
			if ids, ended := f.locationsOfConnection(t, cBoth); ended || !slices.Equal(ids, []string{kept}) {
				t.Errorf("connection over both: %v, ended %v", ids, ended)
			}
			if _, ended := f.locationsOfConnection(t, cOnly); !ended {
				t.Error("connection over the lost one goes on")
			}
		}
		t.Run("KE-83 tokens and connections lose the location", check)
		t.Run("KE-83 those of others do not", func(t *testing.T) {
			if p, err := f.PrincipalByToken(ctx, ownersOwn.Secret); err != nil || p.At(lost) == nil {
				t.Errorf("token %+v, %v", p, err)
			}
			if ids, ended := f.locationsOfConnection(t, cOwner); ended || len(ids) != 1 {
				t.Errorf("connection %v, ended %v", ids, ended)
			}
		})
		t.Run("membership_ended is the reason", func(t *testing.T) {
			list, err := f.people.Tokens(ctx, eva)
			if err != nil || len(list) != 2 {
				t.Fatal(list, err)
			}
			for _, token := range list {
				if want := map[bool]string{true: "membership_ended"}[token.ID == only.Token.ID]; token.EndedReason != want {
					t.Errorf("token ended with %q, want %q", token.EndedReason, want)
				}
			}
		})
		t.Run("KE-83 coming back brings nothing back", func(t *testing.T) {
			f.add(t, owner, lost, eva, home.Member)
			check(t)
		})
	})
}

// A token that is being made while the membership ends has either lost the location or was never made.
func TestTokenAgainstRemoval(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		owner, eva := f.person(t, "owner"), f.person(t, "eva")
		l := f.newLocation(t, owner, "Workshop")
		f.add(t, owner, l, eva, home.Member)
		race(t, account.CodeNotFound, func(n int) error {
			if n == 10 {
				return f.RemoveMember(ctx, owner, l, eva)
			}
			_, err := f.people.CreateToken(ctx, eva, account.NewToken{Name: "x", Scope: "read", LocationIDs: []string{l}})
			return err
		})
		list, err := f.people.Tokens(ctx, eva)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range list {
			if len(token.LocationIDs) != 0 || token.EndedReason != account.TokenEndedByMembership {
				t.Errorf("KE-83 token %+v survived", token)
			}
		}
	})
}
