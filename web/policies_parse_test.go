package web

import (
	"context"
	"crypto/rand"
	"net/url"
	"testing"
	"time"

	"gatehouse/app/policy"
	"gatehouse/oauth"
)

// onePolicy keeps a policy and no tokens.
type onePolicy struct{ saved *policy.Policy }

func (o *onePolicy) Policy(context.Context) (*policy.Policy, error) { return o.saved, nil }
func (o *onePolicy) SavePolicy(_ context.Context, p *policy.Policy, _ time.Time) error {
	o.saved = p
	return nil
}
func (*onePolicy) InsertRegistrationToken(context.Context, policy.Token, []byte) error  { return nil }
func (*onePolicy) RegistrationTokens(context.Context) ([]policy.Token, error)           { return nil, nil }
func (*onePolicy) RevokeRegistrationTokenByID(context.Context, string, time.Time) error { return nil }

func FuzzPolicyForms(f *testing.F) {
	f.Add("registration=open&blocked_hosts=a.example%0A*.b.example&name=x&uses=3&life=1d")
	f.Add("registration=%00&document_hosts=*.*&uses=-9&life=")
	f.Add("registration=token&name=%ff&uses=9999999999999999999&life=forever")
	f.Fuzz(func(t *testing.T, encoded string) {
		form, err := url.ParseQuery(encoded)
		if err != nil {
			return
		}
		store := &onePolicy{}
		s := policy.New(policy.Config{Store: store, Now: time.Now, Rand: rand.Reader})
		if err := s.Set(t.Context(), parsePolicy(form)); err == nil {
			p := store.saved
			if !p.Registration.Known() {
				t.Errorf("saved the mode %q", p.Registration)
			}
			for _, host := range append(append(p.BlockedHosts, p.DocumentHosts...), p.RedirectHosts...) {
				if !oauth.ValidHost(host) {
					t.Errorf("saved the host %q", host)
				}
			}
		}
		n := parseRegistrationToken(form).entry()
		token, _, err := s.CreateToken(t.Context(), n)
		if err == nil && (token.Name == "" || token.MaxUses < 0 || form.Get("life") == "") {
			t.Errorf("made %+v of %v", token, form)
		}
		if problem := policyProblem(t.Context(), err); err != nil && problem == "" {
			t.Errorf("no words for %v", err)
		}
	})
}
