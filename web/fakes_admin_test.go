package web_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/trust"
)

// adminEmail is the address of the administrator.
const adminEmail = "root@example.org"

// fakeIssuers keeps trusted issuers in memory.
type fakeIssuers struct {
	mu   sync.Mutex
	list []trust.Issuer
}

func (f *fakeIssuers) InsertIssuer(_ context.Context, i trust.Issuer) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.ContainsFunc(f.list, func(o trust.Issuer) bool { return o.Issuer == i.Issuer }) {
		return false, nil
	}
	f.list = append(f.list, i)
	return true, nil
}

func (f *fakeIssuers) Issuers(context.Context) ([]trust.Issuer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list), nil
}

func (f *fakeIssuers) IssuerBy(context.Context, string) (*trust.Issuer, error) {
	return nil, trust.ErrNotFound
}

func (f *fakeIssuers) DeleteIssuer(_ context.Context, issuer string, _ time.Time) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.list)
	f.list = slices.DeleteFunc(f.list, func(o trust.Issuer) bool { return o.Issuer == issuer })
	return len(f.list) < n, nil
}

// fakeAudit keeps audit entries in memory.
type fakeAudit struct {
	mu   sync.Mutex
	list []audit.Entry
}

func (f *fakeAudit) InsertAudit(_ context.Context, e audit.Entry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, e)
	return nil
}

func (f *fakeAudit) ListAudit(_ context.Context, q audit.Filter) ([]audit.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []audit.Entry
	for _, e := range slices.Backward(f.list) {
		about := q.PersonID == "" || e.PersonID == q.PersonID || e.ActorID == q.PersonID
		what := q.Action == "" || e.Action == q.Action || strings.HasPrefix(e.Action, q.Action+".")
		when := (q.From.IsZero() || !e.At.Before(q.From)) && (q.Until.IsZero() || e.At.Before(q.Until))
		if about && what && when && (q.Before == "" || e.ID < q.Before) && len(out) < q.Limit {
			out = append(out, e)
		}
	}
	return out, nil
}

func (f *fakeAudit) SweepAudit(context.Context, time.Time) (int, error) { return 0, nil }

func (f *fakeAudit) actions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, e := range f.list {
		out = append(out, e.Action)
	}
	return out
}

func (f *fakeAccounts) PersonByEmail(_ context.Context, email string) (*account.Person, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.password[email]; !ok {
		return nil, account.ErrNotFound
	}
	p := f.person(email)
	return &p, nil
}
