package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Server is a mail server, as GATEHOUSE_SMTP_URL names it.
type Server struct {
	host     string
	port     int
	ssl      bool
	user     string
	password string
	from     string
}

// ParseURL reads smtp://user:password@host:587?from=gatehouse@home.example (STARTTLS is demanded, except on this computer)
// or smtps://… (TLS from the first byte, port 465).
func ParseURL(raw string) (*Server, error) {
	bad := errors.New("must be like smtp://user:password@mail.example:587?from=gatehouse@home.example, or smtps://")
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.Fragment != "" {
		return nil, bad // the URL holds a password, so it is not repeated
	}
	s := &Server{host: u.Hostname(), user: u.User.Username()}
	s.password, _ = u.User.Password()
	switch u.Scheme {
	case "smtp":
		s.port = 587
	case "smtps":
		s.port, s.ssl = 465, true
	default:
		return nil, bad
	}
	if p := u.Port(); p != "" {
		if s.port, err = strconv.Atoi(p); err != nil || s.port < 1 || s.port > 65535 {
			return nil, bad
		}
	}
	from, err := mail.ParseAddress(u.Query().Get("from"))
	if err != nil {
		return nil, fmt.Errorf("%w; from= is the sender's address", bad)
	}
	s.from = from.Address
	return s, nil
}

// local reports whether the server is on this computer, where plain text does not travel.
func (s *Server) local() bool {
	ip, err := netip.ParseAddr(s.host)
	return s.host == "localhost" || err == nil && ip.IsLoopback()
}

func (s *Server) client() (*gomail.Client, error) {
	options := []gomail.Option{gomail.WithPort(s.port), gomail.WithTimeout(20 * time.Second),
		gomail.WithTLSConfig(&tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12})}
	switch {
	case s.ssl:
		options = append(options, gomail.WithSSL())
	case s.local():
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	default:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if s.user != "" {
		auth := gomail.SMTPAuthAutoDiscover
		if s.local() && !s.ssl {
			auth = gomail.SMTPAuthPlainNoEnc
		}
		options = append(options, gomail.WithSMTPAuth(auth), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	return gomail.NewClient(s.host, options...)
}

// Send implements Sender.
func (s *Server) Send(ctx context.Context, l Letter) error {
	m := gomail.NewMsg()
	if err := m.FromFormat("Gatehouse", s.from); err != nil {
		return errors.New("the sender's address is refused")
	}
	if err := m.To(l.To); err != nil {
		return errors.New("the address is refused") // the cause repeats it
	}
	m.Subject(l.Subject)
	m.SetMessageID()
	m.SetDate()
	m.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834 §5: nobody's vacation notice answers
	m.SetBodyString(gomail.TypeTextPlain, l.Text)
	c, err := s.client()
	if err != nil {
		return fmt.Errorf("mail client: %w", err)
	}
	if err := c.DialAndSendWithContext(ctx, m); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return nil
}
