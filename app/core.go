package app

import (
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/app/connection"
	"gatehouse/app/fetch"
	"gatehouse/app/handshake"
	"gatehouse/app/home"
	"gatehouse/app/inventory"
	"gatehouse/app/invitation"
	"gatehouse/app/limit"
	"gatehouse/app/logo"
	"gatehouse/app/mail"
	"gatehouse/app/policy"
	"gatehouse/app/sealing"
	"gatehouse/app/trust"
	"gatehouse/app/upstream"
	"gatehouse/db"
	"gatehouse/oauth"
)

// core are the parts that the server and the commands share: the database and the services on it.
type core struct {
	set         *settings
	log         *slog.Logger
	now         func() time.Time
	rand        io.Reader
	db          *db.DB
	setUp       bool   // may make what a first start makes
	key         []byte // the data key: what seals, and what keys for single purposes are made from
	oauth       *oauth.Server
	accounts    *account.Service
	homes       *home.Service
	connections *connection.Service
	clients     *connection.Clients
	grants      *connection.Grants
	issuers     *trust.Service
	inventory   *inventory.Service
	limiter     *limit.Limiter
	handshakes  *handshake.Service
	policies    *policy.Service
	settings    *connection.ClientSettings
	logos       *logo.Service
	recorder    *handshake.Recorder
	invitations *invitation.Service
	upstream    *upstream.Service
	outbox      *mail.Outbox // nil without mail
	audit       *audit.Service
}

// UsageError says that the settings or the words of a command are wrong.
type UsageError struct{ Message string }

// Error implements error.
func (e *UsageError) Error() string { return e.Message }

// newCore opens and migrates the database and puts the services on it. Unless setUp, it must have been set up before.
func newCore(ctx context.Context, set *settings, log *slog.Logger, now func() time.Time, setUp bool) (*core, error) {
	if !setUp && db.Missing(set.databaseURL()) {
		return nil, errNoInstallation(set.Config)
	}
	d, err := openDB(ctx, set.Config, log, now)
	if err != nil {
		return nil, err
	}
	c := &core{set: set, log: log, now: now, rand: rand.Reader, db: d, setUp: setUp}
	if err := c.prepare(ctx); err != nil {
		_ = c.close()
		return nil, explainOpening(set.Config, err)
	}
	return c, nil
}

func (c *core) prepare(ctx context.Context) error {
	if !c.setUp {
		there, err := c.db.Migrated(ctx)
		if err != nil {
			return err
		}
		if !there {
			return errNoInstallation(c.set.Config)
		}
	}
	if err := c.db.Migrate(ctx); err != nil {
		return err
	}
	return c.build(ctx)
}

func (c *core) close() error {
	if c.recorder != nil {
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		c.recorder.Close(end)
	}
	return c.db.Close()
}

// build makes the services, from the bottom up.
func (c *core) build(ctx context.Context) error {
	sealer, err := c.openKey(ctx)
	if err != nil {
		return err
	}
	if err := c.buildPeople(sealer); err != nil {
		return err
	}
	c.audit = audit.New(audit.Config{Store: c.db, Now: c.now, Rand: c.rand, Log: c.log, Keep: c.set.AuditKeep})
	c.handshakes = &handshake.Service{Store: c.db, Now: c.now}
	c.recorder = handshake.NewRecorder(handshake.Options{Store: c.db, Now: c.now, Rand: c.rand, Log: c.log})
	c.buildPolicies()
	if c.oauth, err = c.newOAuth(sealer); err != nil {
		return err
	}
	c.connections = &connection.Service{Store: c.db, Now: c.now, Scopes: c.scopeRules, Located: c.located, Tools: toolCatalog}
	c.clients = &connection.Clients{Store: c.db, Now: c.now, Register: c.registerClient}
	c.buildGrants()
	c.inventory = inventory.New(inventory.Options{Store: c.db, Now: c.now, Rand: c.rand, PublicURL: c.set.publicURL})
	return nil
}

// derive makes a key for one purpose from the secret key, the same in every process.
func (c *core) derive(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, c.key, nil, "gatehouse "+purpose, 32)
}

func (c *core) buildPeople(sealer *sealing.Sealer) error {
	lc := limit.Config{Now: c.now, Budgets: map[string]int{limit.Reads.Name: c.set.ReadsPerMinute, limit.Writes.Name: c.set.WritesPerMinute}}
	if c.db.Dialect() == db.Postgres {
		lc.Store = c.db
	}
	c.limiter = limit.New(lc)
	var err error
	c.accounts, err = account.New(account.Config{
		Now: c.now, Rand: c.rand, Store: c.db, SignIns: limit.NewSignIns(c.now, c.db, c.limiter),
		PublicURL: c.set.publicURL, BearerAllowed: c.set.oauthOn,
		SignUp: c.set.signUp, DeletionWait: c.set.DeletionWait, Notify: c.notify,
		Passwords: account.PasswordParams{MemoryKiB: c.set.Argon2Memory, Iterations: c.set.Argon2Time, Parallelism: 1},
		Sealer:    sealer, Record: c.recordAccount,
	})
	if err != nil {
		return err
	}
	if c.homes, err = home.New(home.Config{Now: c.now, Rand: c.rand, Store: c.db}); err != nil {
		return err
	}
	return c.buildWaysIn(sealer)
}

// newOAuth makes the authorization server. While OAuth is off it serves nothing, but the settings pages still read its
// resources; its issuer is then the https form of the public URL. Making keys is not part of it: a command that only looks has
// settings of its own, which need not be the server's.
func (c *core) newOAuth(sealer oauth.Sealer) (*oauth.Server, error) {
	issuer := c.set.publicURL
	if !c.set.oauthOn {
		issuer = "https://" + c.set.public.Host
	}
	fetcher, err := c.documentFetcher()
	if err != nil {
		return nil, err
	}
	c.logos = logo.New(logo.Config{Store: c.db, Fetch: fetcher, Now: c.now, Allowed: c.hostAllowed})
	deviceKey, err := c.derive("device codes")
	if err != nil {
		return nil, err
	}
	c.issuers = c.newIssuers(issuer)
	s, err := oauth.New(oauth.Config{
		Issuer: issuer, Resources: []oauth.Resource{c.homeResource(issuer)},
		DynamicRegistration: c.set.DynamicRegistration, ClientDocuments: c.set.ClientDocuments,
		Policy: c.policies.OAuth, Limit: c.limitClient,
		DetailTypes:      []oauth.DetailType{toolDetails()},
		SigningAlgorithm: c.set.SigningAlgorithm, Fetch: fetcher, Sealer: sealer,
		OpenID: true, ACRValues: account.Strengths(),
		Observe: c.observeOAuth, Now: c.now, Rand: c.rand, DeviceKey: deviceKey, Subjects: c.issuers,
	}, oauth.Stores{Grants: c.db, Devices: c.db, Issuers: c.db, Clients: c.db, Requests: c.db, Codes: c.db, Tokens: c.db, Keys: c.db, Proofs: c.db})
	if err != nil {
		return nil, fmt.Errorf("authorization server: %w", err)
	}
	return s, nil
}

func (c *core) documentFetcher() (*fetch.Client, error) {
	f, err := fetch.NewForDocuments(fetch.Config{Allow: c.set.allow, CAFile: c.set.FetchCAFile}, c.set.publicURL)
	if err != nil {
		return nil, fmt.Errorf("GATEHOUSE_FETCH_CA_FILE: %w", err)
	}
	return f, nil
}

// homeResource is the resource behind /mcp.
func (c *core) homeResource(issuer string) oauth.Resource {
	return oauth.Resource{
		URI: issuer + "/mcp", Name: "Gatehouse",
		Scopes: []oauth.Scope{
			{Name: home.ScopeRead, Baseline: true},
			{Name: home.ScopeWrite, Implies: []string{home.ScopeRead}},
			{Name: oauth.ScopeGrantQuery, Reserved: true},
			{Name: oauth.ScopeGrantRevoke, Reserved: true},
		},
		AccessTokenLife: c.set.AccessTokenLife, RefreshTokenLimit: c.set.RefreshLimit, RefreshGrace: &c.set.RefreshGrace,
		OpaqueTokens: c.set.AccessTokenFormat == "opaque",
	}
}

func (c *core) scopeRules(resource string) []connection.ScopeRule {
	for _, r := range c.oauth.Resources() {
		if r.URI != resource {
			continue
		}
		var out []connection.ScopeRule
		for _, s := range r.Scopes {
			out = append(out, connection.ScopeRule{Name: s.Name, Implies: s.Implies, Identity: s.Identity, Reserved: s.Reserved})
		}
		return out
	}
	return nil
}

// located reports whether connections to a resource act at locations: the home resource's do.
func (c *core) located(resource string) bool { return strings.HasSuffix(resource, "/mcp") }

// registerClient enters a client for an administrator, also while self-registration is off.
func (c *core) registerClient(ctx context.Context, metadata []byte) (id, secret string, err error) {
	r, err := c.oauth.RegisterByAdmin(ctx, metadata)
	if err != nil {
		return "", "", err
	}
	return r.ClientID, r.ClientSecret, nil
}
