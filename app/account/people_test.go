package account_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/home"
	"gatehouse/db"
	"gatehouse/db/dbtest"
)

func withSignUp(p account.SignUpPolicy) func(*account.Config) {
	return func(c *account.Config) { c.SignUp = p }
}

// notices collects what people are told.
type notices struct {
	mu   sync.Mutex
	list []account.Notice
}

func (n *notices) tell(_ context.Context, x account.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, x)
}

func (n *notices) kinds(to string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for _, x := range n.list {
		if x.To == to {
			out = append(out, x.Kind)
		}
	}
	return out
}

func TestSignUpByLink(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		closed := newFixture(t, d, clock)
		_, err := closed.SignUpLink(ctx, "ada@example.org")
		wantCode(t, err, account.CodeForbidden)
		f := newFixture(t, d, clock, withSignUp(account.SignUpPolicy{Mode: account.SignUpDomain, Domains: []string{"example.org"}}))
		for _, bad := range []string{"ada@evil.example", "ada@sub.example.org", "ada@example.org.evil.example", "x"} {
			if _, err := f.SignUpLink(ctx, bad); account.CodeOf(err) == "" {
				t.Errorf("%s may sign up: %v", bad, err)
			}
		}
		first, err := f.SignUpLink(ctx, "ADA@Example.org")
		if err != nil {
			t.Fatal(err)
		}
		link, err := f.SignUpLink(ctx, "ada@example.org")
		if err != nil {
			t.Fatal(err)
		}
		before := "https://home.example/signup/confirm?token="
		_, err = f.CheckSignUp(ctx, tokenOf(t, first, before))
		wantCode(t, err, account.CodeGone)
		token := tokenOf(t, link, before)
		_, err = closed.CheckSignUp(ctx, token)
		wantCode(t, err, account.CodeGone) // the policy is looked at again
		n := account.NewPerson{Email: "eve@example.org", Admin: true, Password: goodPassword, Name: "Ada"}
		won := race(t, account.CodeGone, func(int) error {
			_, err := f.CompleteSignUp(ctx, token, n)
			return err
		})
		p, err := f.PersonByEmail(ctx, "ada@example.org")
		if won != 1 || err != nil || p.Admin || p.EmailVerifiedAt == nil {
			t.Errorf("%d people by one link; %+v, %v", won, p, err)
		}
		_, err = f.SignUpLink(ctx, "ada@example.org")
		wantCode(t, err, account.CodeConflict)
		late, err := f.SignUpLink(ctx, "late@example.org")
		if err != nil {
			t.Fatal(err)
		}
		clock.Advance(25 * time.Hour)
		_, err = f.CheckSignUp(ctx, tokenOf(t, late, before))
		wantCode(t, err, account.CodeGone)
	})
}

func TestChangeOfAddress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		told := &notices{}
		f := newFixture(t, d, clock, func(c *account.Config) { c.Notify = told.tell })
		p := f.person(t, "ada@example.org")
		f.person(t, "bob@example.org")
		for _, taken := range []string{"BOB@example.org", "ada@example.org"} {
			_, err := f.EmailChangeLink(ctx, p.ID, taken)
			wantCode(t, err, account.CodeConflict)
		}
		link, err := f.EmailChangeLink(ctx, p.ID, "Ada.New@Example.org")
		if err != nil {
			t.Fatal(err)
		}
		token := tokenOf(t, link, "https://home.example/email?token=")
		if won := race(t, account.CodeGone, func(int) error { return f.CompleteEmailChange(ctx, token, nil) }); won != 1 {
			t.Errorf("one link worked %d times", won)
		}
		if _, _, err := f.SignIn(ctx, "ada.new@example.org", goodPassword, account.Device{}); err != nil {
			t.Errorf("the new address: %v", err)
		}
		if kinds := told.kinds("ada@example.org"); !slices.Equal(kinds, []string{account.NoticeEmail}) {
			t.Errorf("the old address is told %q", kinds)
		}
		// Between the link and its use somebody else got the address.
		link, err = f.EmailChangeLink(ctx, p.ID, "third@example.org")
		if err != nil {
			t.Fatal(err)
		}
		f.person(t, "third@example.org")
		wantCode(t, f.CompleteEmailChange(ctx, tokenOf(t, link, "https://home.example/email?token="), nil), account.CodeConflict)
		// A link of before a sign-out everywhere is worth nothing.
		link, err = f.EmailChangeLink(ctx, p.ID, "fourth@example.org")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.EndOtherSessions(ctx, p.ID, ""); err != nil {
			t.Fatal(err)
		}
		wantCode(t, f.CompleteEmailChange(ctx, tokenOf(t, link, "https://home.example/email?token="), nil), account.CodeGone)
	})
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	week := func(c *account.Config) { c.DeletionWait = 7 * 24 * time.Hour }
	dbtest.Each(t, func(t *testing.T, d *db.DB, clock *dbtest.Clock) {
		f := newFixture(t, d, clock, week)
		admin, err := f.AddPerson(ctx, account.NewPerson{Email: "admin@example.org", Password: goodPassword, Admin: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.RequestDeletion(ctx, admin.ID)
		wantCode(t, err, account.CodeConflict) // the last administrator
		ada, bob := f.person(t, "ada@example.org"), f.person(t, "bob@example.org")
		adas := f.location(t, ada.ID)
		if err := f.home.AddMember(ctx, ada.ID, adas, bob.ID, home.Viewer); err != nil {
			t.Fatal(err)
		}
		_, err = f.RequestDeletion(ctx, ada.ID)
		wantCode(t, err, account.CodeConflict) // somebody else uses what is theirs
		if err := f.home.RemoveMember(ctx, ada.ID, adas, bob.ID); err != nil {
			t.Fatal(err)
		}
		facts, err := f.DeletionFacts(ctx, ada.ID)
		if err != nil || len(facts.Alone) != 1 || len(facts.Shared) != 0 || facts.LastAdmin {
			t.Errorf("facts: %+v, %v", facts, err)
		}
		due, err := f.RequestDeletion(ctx, ada.ID)
		if err != nil || !due.Equal(clock.Now().Add(7*24*time.Hour)) {
			t.Fatalf("due %v: %v", due, err)
		}
		s, _ := f.signIn(t, "ada@example.org", goodPassword)
		if s.Person.DeletionDueAt == nil {
			t.Error("a sign-in does not tell that the account will be deleted")
		}
		clock.Advance(6 * 24 * time.Hour)
		if n, err := f.DeleteDue(ctx); n != 0 || err != nil {
			t.Errorf("a day early: %d, %v", n, err)
		}
		if err := f.KeepPerson(ctx, ada.ID); err != nil {
			t.Fatal(err)
		}
		clock.Advance(48 * time.Hour)
		if n, err := f.DeleteDue(ctx); n != 0 || err != nil {
			t.Errorf("somebody who stays: %d, %v", n, err)
		}
		if _, err := f.RequestDeletion(ctx, ada.ID); err != nil {
			t.Fatal(err)
		}
		clock.Advance(8 * 24 * time.Hour)
		both := []*fixture{f, newFixture(t, dbtest.Again(t, d, clock.Now), clock, week)}
		race(t, "", func(n int) error { _, err := both[n%2].DeleteDue(ctx); return err })
		_, err = f.PersonByID(ctx, ada.ID)
		wantCode(t, err, account.CodeNotFound)
		if list, err := f.home.Members(ctx, bob.ID, f.location(t, bob.ID)); err != nil || len(list) != 1 {
			t.Errorf("somebody else's location: %+v, %v", list, err)
		}
		if _, err := f.AddPerson(ctx, account.NewPerson{Email: "ada@example.org", Password: goodPassword}); err != nil {
			t.Errorf("the address is not free again: %v", err)
		}
	})
}

// Somebody joins during the waiting time: the location passes to them, the highest role first.
func TestDeletionPassesLocationsOn(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		ada, bob, eve := f.person(t, "ada@example.org"), f.person(t, "bob@example.org"), f.person(t, "eve@example.org")
		shared := f.location(t, ada.ID)
		if _, err := f.RequestDeletion(ctx, ada.ID); err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			id   string
			role home.Role
		}{{bob.ID, home.Member}, {eve.ID, home.Admin}} {
			if err := f.home.AddMember(ctx, ada.ID, shared, x.id, x.role); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := f.DeleteDue(ctx); n != 1 || err != nil {
			t.Fatalf("%d deleted: %v", n, err)
		}
		list, err := f.home.Members(ctx, bob.ID, shared)
		if err != nil || len(list) != 2 {
			t.Fatalf("members: %+v, %v", list, err)
		}
		for _, m := range list {
			if (m.Role == home.Owner) != (m.UserID == eve.ID) {
				t.Errorf("%s is %s now", m.Name, m.Role)
			}
		}
	})
}

// Two administrators go at once: one stays.
func TestLastAdministratorsGoAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *fixture) {
		var ids []string
		for _, email := range []string{"one@example.org", "two@example.org"} {
			p, err := f.AddPerson(ctx, account.NewPerson{Email: email, Password: goodPassword, Admin: true})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, p.ID)
		}
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for n, id := range ids {
			wg.Go(func() { _, errs[n] = f.RequestDeletion(ctx, id) })
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("both or none go: %v", errs)
		}
	})
}

func FuzzFoldDomain(f *testing.F) {
	f.Add("Example.ORG")
	f.Add("bücher.example")
	f.Add("a@b")
	f.Fuzz(func(t *testing.T, domain string) {
		folded, err := account.FoldDomain(domain)
		if err != nil {
			return
		}
		if again, err := account.FoldDomain(folded); err != nil || again != folded || strings.ContainsAny(folded, "@ ") {
			t.Errorf("%q folds to %q and then to %q, %v", domain, folded, again, err)
		}
	})
}
