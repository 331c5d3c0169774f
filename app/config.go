package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gatehouse/app/account"
	"gatehouse/app/fetch"
	"gatehouse/app/mail"
)

// Config is everything that can be set. Each field is a flag of the command line and an environment variable
// GATEHOUSE_…; the struct tags are kong's.
type Config struct {
	Listen        string `default:"127.0.0.1:8080" env:"GATEHOUSE_LISTEN" help:"Address to listen on."`
	PublicURL     string `name:"public-url" env:"GATEHOUSE_PUBLIC_URL" help:"The one public URL everything is built from, as in https://home.example. Default: http://<listen>."`
	DataDir       string `default:"./data" env:"GATEHOUSE_DATA_DIR" help:"Folder of the SQLite file and the secret key."`
	DatabaseURL   string `name:"database-url" env:"GATEHOUSE_DATABASE_URL" help:"postgres://… or sqlite:///path. Default: gatehouse.db in the data folder."`
	SecretKey     string `env:"GATEHOUSE_SECRET_KEY" help:"Key that seals private keys: 32 bytes in base64 or hex. Default: made on the first start and kept in the data folder."`
	SecretKeyFile string `env:"GATEHOUSE_SECRET_KEY_FILE" help:"File that holds the secret key."`
	// SecretKeyCommand is run by the shell.
	SecretKeyCommand string   `env:"GATEHOUSE_SECRET_KEY_COMMAND" help:"Command that prints the secret key, for keys that a vault keeps."`
	TrustedProxies   []string `env:"GATEHOUSE_TRUSTED_PROXIES" help:"Networks whose forwarding headers count, as in 10.0.0.0/8."`
	FetchAllow       []string `env:"GATEHOUSE_FETCH_ALLOW" help:"Private networks, addresses or host names that guarded fetches may reach, each with an optional port, as in 10.0.5.0/24:443. For client documents only while the public URL is loopback."`
	FetchCAFile      string   `name:"fetch-ca-file" env:"GATEHOUSE_FETCH_CA_FILE" help:"Extra certificate authorities for guarded fetches (PEM)."`
	AllowedOrigins   []string `env:"GATEHOUSE_ALLOWED_ORIGINS" help:"Browser origins besides our own that may call /mcp, as in http://localhost:6274."`
	LogLevel         string   `default:"info" enum:"debug,info,warn,error" env:"GATEHOUSE_LOG_LEVEL" help:"debug, info, warn or error."`
	LogFormat        string   `enum:"text,json,auto" default:"auto" env:"GATEHOUSE_LOG_FORMAT" help:"text or json. Default: text on a terminal, else json."`

	DynamicRegistration bool          `default:"true" negatable:"" env:"GATEHOUSE_DYNAMIC_REGISTRATION" help:"Let clients register themselves (RFC 7591)."`
	ClientDocuments     bool          `default:"true" negatable:"" env:"GATEHOUSE_CLIENT_DOCUMENTS" help:"Accept clients whose id is the URL of their metadata document."`
	SigningAlgorithm    string        `default:"ES256" enum:"ES256,RS256,EdDSA" env:"GATEHOUSE_SIGNING_ALGORITHM" help:"Algorithm of access tokens: ES256, RS256 or EdDSA."`
	AccessTokenFormat   string        `default:"jwt" enum:"jwt,opaque" env:"GATEHOUSE_ACCESS_TOKEN_FORMAT" help:"Form of access tokens: jwt, or opaque (looked up in the database)."`
	StepUp              string        `default:"off" enum:"off,writes" env:"GATEHOUSE_STEP_UP" help:"writes: apps may change things only while their person signed in with two factors or a passkey (RFC 9470). off: any sign-in will do."`
	StepUpMaxAge        time.Duration `default:"0" env:"GATEHOUSE_STEP_UP_MAX_AGE" help:"With GATEHOUSE_STEP_UP=writes: how long ago that sign-in may be, as in 12h. 0: any time."`
	SQLiteSyncFull      bool          `name:"sqlite-sync-full" env:"GATEHOUSE_SQLITE_SYNC_FULL" help:"Wait for the disk at every commit of SQLite."`

	AccessTokenLife time.Duration `default:"1h" env:"GATEHOUSE_ACCESS_TOKEN_LIFE" help:"Life of an access token, as in 1h."`
	RefreshLimit    time.Duration `default:"0" env:"GATEHOUSE_REFRESH_LIMIT" help:"Age at which a sign-in of an app ends however often it is used, as in 4320h. 0: never."`
	RefreshGrace    time.Duration `default:"60s" env:"GATEHOUSE_REFRESH_GRACE" help:"0: a refresh token that was used once never works again. Otherwise a lost answer can be fetched again."`
	Argon2Memory    uint32        `name:"argon2-memory-kib" default:"19456" env:"GATEHOUSE_ARGON2_MEMORY_KIB" help:"Memory of a password hash in KiB."`
	Argon2Time      uint32        `name:"argon2-time" default:"2" env:"GATEHOUSE_ARGON2_TIME" help:"Passes of a password hash."`
	ReadsPerMinute  int           `default:"120" env:"GATEHOUSE_READS_PER_MINUTE" help:"Reading tool calls per connection or personal token."`
	WritesPerMinute int           `default:"30" env:"GATEHOUSE_WRITES_PER_MINUTE" help:"Writing tool calls per connection or personal token."`

	SignUp        string        `default:"closed" enum:"closed,open,domain" env:"GATEHOUSE_SIGN_UP" help:"Who may make an account: closed (by invitation alone), open, or domain (addresses of GATEHOUSE_SIGN_UP_DOMAINS)."`
	SignUpDomains []string      `env:"GATEHOUSE_SIGN_UP_DOMAINS" help:"E-mail domains whose owners may sign up, as in example.org."`
	SMTPURL       string        `name:"smtp-url" env:"GATEHOUSE_SMTP_URL" help:"Mail server, as in smtp://user:password@mail.example:587?from=gatehouse@home.example, or smtps://. Without one, links are shown to be passed on by hand."`
	DeletionWait  time.Duration `default:"168h" env:"GATEHOUSE_DELETION_WAIT" help:"Time between the wish to delete an account and its deletion."`
	AuditKeep     time.Duration `default:"8760h" env:"GATEHOUSE_AUDIT_KEEP" help:"How long the audit record is kept, as in 8760h (365 days)."`

	AdminEmail        string `env:"GATEHOUSE_ADMIN_EMAIL" help:"Makes the first administrator on a start with no person in the database."`
	AdminPasswordFile string `env:"GATEHOUSE_ADMIN_PASSWORD_FILE" help:"File with the first administrator's password."`
}

// settings are the checked and derived values of a Config.
type settings struct {
	Config
	publicURL string
	public    *url.URL
	proxies   []*net.IPNet
	allow     []fetch.Allowed
	signUp    account.SignUpPolicy
	smtp      *mail.Server // nil without mail
	// oauthOn is false while the public URL is plain http beyond this computer (bearer tokens would travel readable).
	oauthOn bool
}

// Validate checks the configuration and reports every problem at once.
func (c Config) Validate() error {
	_, err := c.check("")
	return err
}

// check derives the settings. bound is the address the listener got, which replaces a port 0.
func (c Config) check(bound string) (*settings, error) {
	s := &settings{Config: c}
	var problems []error
	note := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	note(checkListen(c.Listen))
	note(s.setPublicURL(bound))
	note(s.setNetworks())
	note(s.setPeople())
	if moreThanOne(c.SecretKey, c.SecretKeyFile, c.SecretKeyCommand) {
		note(errors.New("more than one of GATEHOUSE_SECRET_KEY, GATEHOUSE_SECRET_KEY_FILE and GATEHOUSE_SECRET_KEY_COMMAND is set; keep one"))
	}
	if (c.AdminEmail == "") != (c.AdminPasswordFile == "") {
		note(errors.New("GATEHOUSE_ADMIN_EMAIL and GATEHOUSE_ADMIN_PASSWORD_FILE go together; set both or neither"))
	}
	if c.AccessTokenLife < time.Second || c.AccessTokenLife > 24*time.Hour {
		note(errors.New("GATEHOUSE_ACCESS_TOKEN_LIFE must be between 1s and 24h"))
	}
	if c.RefreshLimit < 0 || c.RefreshGrace < 0 || c.RefreshGrace > 5*time.Minute {
		note(errors.New("GATEHOUSE_REFRESH_LIMIT must not be negative and GATEHOUSE_REFRESH_GRACE between 0 and 5m"))
	}
	if c.StepUpMaxAge != 0 && (c.StepUp != "writes" || c.StepUpMaxAge < time.Minute) {
		note(errors.New("GATEHOUSE_STEP_UP_MAX_AGE goes with GATEHOUSE_STEP_UP=writes and is 0 or at least 1m"))
	}
	if c.Argon2Memory < 19456 || c.Argon2Memory > 1<<20 || c.Argon2Time < 2 || c.Argon2Time > 20 {
		note(errors.New("GATEHOUSE_ARGON2_MEMORY_KIB must be between 19456 and 1048576, GATEHOUSE_ARGON2_TIME between 2 and 20"))
	}
	if c.ReadsPerMinute < 1 || c.WritesPerMinute < 1 {
		note(errors.New("GATEHOUSE_READS_PER_MINUTE and GATEHOUSE_WRITES_PER_MINUTE must be at least 1"))
	}
	if c.AuditKeep < 24*time.Hour {
		note(errors.New("GATEHOUSE_AUDIT_KEEP must be at least 24h"))
	}
	for _, o := range c.AllowedOrigins {
		if u, err := url.Parse(o); err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			note(fmt.Errorf("GATEHOUSE_ALLOWED_ORIGINS: %q is not an origin such as https://claude.ai", o))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return s, nil
}

func (s *settings) setPublicURL(bound string) error {
	raw := s.Config.PublicURL
	if raw == "" {
		raw = "http://" + defaultHost(s.Listen, bound)
	}
	u, err := url.Parse(strings.TrimSuffix(raw, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("GATEHOUSE_PUBLIC_URL: %q is not a URL such as https://home.example", raw)
	}
	if u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fmt.Errorf("GATEHOUSE_PUBLIC_URL: %q may hold only scheme, host and port", raw)
	}
	u.Host = strings.ToLower(u.Host)
	if u.Port() == map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	s.public, s.publicURL = u, u.Scheme+"://"+u.Host
	s.oauthOn = u.Scheme == "https" || isLoopbackHost(u.Hostname())
	return nil
}

// checkListen checks the form of an address to listen on. Whether it is free shows when listening.
func checkListen(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("GATEHOUSE_LISTEN: %q is not an address such as 127.0.0.1:8080 or :8080", address)
	}
	return nil
}

// defaultHost is the host and port of the default public URL: the listening address, with a wildcard address read as
// this computer.
func defaultHost(listen, bound string) string {
	if bound != "" {
		listen = bound
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func isLoopbackHost(h string) bool {
	if h == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(h)
	return err == nil && ip.IsLoopback()
}

func (s *settings) setNetworks() error {
	for _, p := range s.TrustedProxies {
		_, n, err := net.ParseCIDR(withPrefix(p))
		if err != nil {
			return fmt.Errorf("GATEHOUSE_TRUSTED_PROXIES: %q is not a network such as 10.0.0.0/8", p)
		}
		s.proxies = append(s.proxies, n)
	}
	var err error
	if s.allow, err = fetch.ParseAllow(strings.Join(s.FetchAllow, ",")); err != nil {
		return fmt.Errorf("GATEHOUSE_FETCH_ALLOW: %w", err)
	}
	return nil
}

// withPrefix turns a single address into a network of one.
func withPrefix(s string) string {
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return s
	}
	return fmt.Sprintf("%s/%d", s, ip.BitLen())
}

// databaseURL is the configured database, or SQLite in the data folder.
func (c Config) databaseURL() string {
	if c.DatabaseURL != "" {
		return c.DatabaseURL
	}
	return "sqlite://" + filepath.Join(c.DataDir, "gatehouse.db")
}

// Lifetimes of the server's own making.
const (
	shutdownTime = 15 * time.Second
	jobInterval  = time.Minute
)

func moreThanOne(texts ...string) bool {
	return len(slices.DeleteFunc(texts, func(s string) bool { return s == "" })) > 1
}
