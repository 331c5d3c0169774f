package app

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"gatehouse/app/account"
	"gatehouse/app/audit"
	"gatehouse/db"
)

// Admin is what the commands work on. Its methods are what an administrator may do from the machine itself.
type Admin struct{ c *core }

// OpenAdmin opens an installation for the commands. It makes none.
func OpenAdmin(ctx context.Context, cfg Config, logTo io.Writer) (*Admin, error) {
	return openAdmin(ctx, cfg, logTo, false)
}

// OpenOrSetUp is OpenAdmin that makes database and secret key where there are none.
func OpenOrSetUp(ctx context.Context, cfg Config, logTo io.Writer) (*Admin, error) {
	return openAdmin(ctx, cfg, logTo, true)
}

func openAdmin(ctx context.Context, cfg Config, logTo io.Writer, setUp bool) (*Admin, error) {
	set, err := cfg.check("")
	if err != nil {
		return nil, &UsageError{Message: err.Error()}
	}
	if cfg.LogLevel == "info" {
		cfg.LogLevel = "warn" // a command's own output says what it did
	}
	c, err := newCore(ctx, set, NewLogger(logTo, cfg.LogLevel, cfg.LogFormat), time.Now, setUp)
	if err != nil {
		return nil, err
	}
	return &Admin{c: c}, nil
}

// Close closes the database.
func (a *Admin) Close() { _ = a.c.close() }

// Migration is one step of the database's tables.
type Migration struct {
	ID      string `json:"id"`
	Applied bool   `json:"applied"`
}

// Migrate brings the database up to date.
func Migrate(ctx context.Context, cfg Config, logTo io.Writer) ([]Migration, error) {
	return migrations(ctx, cfg, logTo, true)
}

// MigrationStatus says which steps the database has; it changes nothing.
func MigrationStatus(ctx context.Context, cfg Config, logTo io.Writer) ([]Migration, error) {
	return migrations(ctx, cfg, logTo, false)
}

func migrations(ctx context.Context, cfg Config, logTo io.Writer, run bool) ([]Migration, error) {
	if !run && db.Missing(cfg.databaseURL()) {
		return migrationsOf(db.PendingMigrations()), nil
	}
	d, err := openDB(ctx, cfg, NewLogger(logTo, "warn", cfg.LogFormat), time.Now)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if run {
		if err := d.Migrate(ctx); err != nil {
			return nil, explainOpening(cfg, err)
		}
	}
	states, err := d.MigrationStatus(ctx)
	if err != nil {
		return nil, explainOpening(cfg, err)
	}
	return migrationsOf(states), nil
}

func migrationsOf(states []db.MigrationState) []Migration {
	out := make([]Migration, len(states))
	for i, s := range states {
		out[i] = Migration(s)
	}
	return out
}

// PlainText makes a text safe for a terminal: one line, without control characters and invisible marks.
func PlainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
}

// User is a person as the commands show them.
type User struct {
	ID            string     `json:"id"`
	Email         string     `json:"email"`
	Name          string     `json:"name"`
	Admin         bool       `json:"admin"`
	DisabledAt    *time.Time `json:"disabled_at,omitempty"`
	DeletionDueAt *time.Time `json:"deletion_due_at,omitempty"`
	CreatedAt     time.Time  `json:"created_at"`
}

func userOf(p *account.Person) User {
	return User{ID: p.ID, Email: p.Email, Name: p.Name, Admin: p.Admin, DisabledAt: p.DisabledAt, DeletionDueAt: p.DeletionDueAt, CreatedAt: p.CreatedAt}
}

// NewUser is a person to add. Without a password they get a one-time link to set one.
type NewUser struct {
	Email, Name, Password string
	Admin                 bool
}

func newAdmin(email, password string) account.NewPerson {
	return account.NewPerson{Email: email, Password: password, Admin: true}
}

// AddUser adds a person; the second result is the link with which they set a password, when none was given.
func (a *Admin) AddUser(ctx context.Context, n NewUser) (User, string, error) {
	if n.Password == "" {
		return a.inviteUser(ctx, n)
	}
	p, err := a.c.accounts.AddPerson(ctx, account.NewPerson{Email: n.Email, Name: n.Name, Password: n.Password, Admin: n.Admin})
	if err != nil {
		return User{}, "", err
	}
	a.record(ctx, audit.Entry{Action: audit.PersonAdded, PersonID: p.ID})
	return userOf(p), "", nil
}

// inviteUser adds a person without a password, and makes the link that sets one.
func (a *Admin) inviteUser(ctx context.Context, n NewUser) (User, string, error) {
	p, link, err := a.c.accounts.AddWithLink(ctx, account.NewPerson{Email: n.Email, Name: n.Name, Admin: n.Admin})
	if err != nil {
		return User{}, "", err
	}
	a.record(ctx, audit.Entry{Action: audit.PersonAdded, PersonID: p.ID})
	return userOf(p), link, nil
}

// Users lists everybody.
func (a *Admin) Users(ctx context.Context) ([]User, error) {
	people, err := a.c.accounts.People(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]User, len(people))
	for i := range people {
		out[i] = userOf(&people[i])
	}
	return out, nil
}

func (a *Admin) person(ctx context.Context, email string) (*account.Person, error) {
	p, err := a.c.accounts.PersonByEmail(ctx, email)
	if err != nil {
		return nil, missing(err, "person with the address", email, "user list")
	}
	return p, nil
}

// enabledPerson is person for what a disabled one cannot have.
func (a *Admin) enabledPerson(ctx context.Context, email string) (*account.Person, error) {
	p, err := a.person(ctx, email)
	if err != nil {
		return nil, err
	}
	if p.DisabledAt != nil {
		return nil, fmt.Errorf("%s is disabled; `gatehouse user enable %s` lets them in again", PlainText(email), PlainText(email))
	}
	if p.DeletionDueAt != nil {
		return nil, fmt.Errorf("%s is about to be deleted; `gatehouse user keep %s` takes that back", PlainText(email), PlainText(email))
	}
	return p, nil
}

// DisableUser shuts a person out.
func (a *Admin) DisableUser(ctx context.Context, email string) error {
	p, err := a.person(ctx, email)
	if err != nil {
		return err
	}
	return a.recorded(ctx, a.c.accounts.DisablePerson(ctx, p.ID), audit.Entry{Action: audit.PersonDisabled, PersonID: p.ID})
}

// EnableUser lets a person sign in again.
func (a *Admin) EnableUser(ctx context.Context, email string) error {
	p, err := a.person(ctx, email)
	if err != nil {
		return err
	}
	return a.recorded(ctx, a.c.accounts.EnablePerson(ctx, p.ID), audit.Entry{Action: audit.PersonEnabled, PersonID: p.ID})
}

// ResetLink makes a one-time link with which a person sets a new password.
func (a *Admin) ResetLink(ctx context.Context, email string) (string, error) {
	p, err := a.enabledPerson(ctx, email)
	if err != nil {
		return "", err
	}
	link, err := a.c.accounts.ResetLink(ctx, p.ID)
	return link, a.recorded(ctx, err, audit.Entry{Action: audit.ResetLinkMade, PersonID: p.ID})
}
