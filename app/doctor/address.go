package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// address finds out where the name leads. False means nowhere.
func (w *walk) address(ctx context.Context) bool {
	const check, title = "address", "Address"
	host := w.endpoint.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		w.addrs = []netip.Addr{ip.Unmap()}
	} else {
		limited, cancel := context.WithTimeout(ctx, w.o.Timeout)
		defer cancel()
		found, err := w.o.Lookup(limited, host)
		if err != nil || len(found) == 0 {
			reason := host + " has no address"
			if err != nil {
				reason = err.Error()
			}
			return w.judge(check, title, "", &problem{finding: "unresolved", detail: reason,
				mend: "Correct the name, or add an A record for it at your DNS provider."})
		}
		for _, ip := range found {
			w.addrs = append(w.addrs, ip.Unmap())
		}
	}
	w.ok(check, title, host+" is "+joined(w.addrs))
	w.secure = w.endpoint.Scheme == "https" || w.all(netip.Addr.IsLoopback)
	if !w.secure {
		w.judge("https", "Encryption", "", &problem{finding: "plain_http",
			detail: "the URL is plain http beyond this computer: tokens would travel readable, apps refuse it, and Gatehouse keeps OAuth off",
			mend:   "Put a proxy with a certificate in front (Caddy: home.example { reverse_proxy 127.0.0.1:8080 }) and set GATEHOUSE_PUBLIC_URL=https://…"})
	}
	return true
}

func joined(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, a := range addrs {
		texts[i] = a.String()
	}
	return strings.Join(texts, ", ")
}

func (w *walk) all(is func(netip.Addr) bool) bool {
	for _, a := range w.addrs {
		if !is(a) {
			return false
		}
	}
	return len(w.addrs) > 0
}

// sharedSpace is the space of carrier-grade NAT (RFC 6598).
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

func unreachable(a netip.Addr) bool {
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() || sharedSpace.Contains(a)
}

// reach judges whether an app that calls from the internet can get here.
func (w *walk) reach(p persona) {
	const check, title = "reach", "Reachable from the internet"
	if !p.hosted {
		w.ok(check, "Reachable from this computer", joined(w.addrs))
		return
	}
	var fault *problem
	const elsewhere = "it calls from its own servers"
	switch {
	case w.all(netip.Addr.IsLoopback):
		fault = &problem{finding: "loopback", detail: w.endpoint.Hostname() + " is this computer; " + elsewhere,
			mend: "For this app, publish the server under an https name. Apps on this computer can use the URL as it is."}
	case w.all(unreachable):
		fault = &problem{finding: "private_address", detail: joined(w.addrs) + " is a private or shared address; " + elsewhere,
			mend: "Use a public address with port forwarding, or a tunnel. If only this network sees the private address, ask from outside."}
	case w.all(netip.Addr.Is6):
		fault = &problem{finding: "ipv6_only", detail: "there is no IPv4 address; hosted apps do not reach IPv6-only hosts",
			mend: "Add an A record, or a CDN or tunnel that has one."}
	}
	w.judge(check, title, joined(w.addrs), fault.softened())
}

// certificate judges the TLS connection. False means that there is none at all.
func (w *walk) certificate(ctx context.Context) bool {
	const check, title = "certificate", "Certificate"
	if w.endpoint.Scheme != "https" {
		return true
	}
	port := w.endpoint.Port()
	if port == "" {
		port = "443"
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	conn, err := w.o.Dial(ctx, "tcp", net.JoinHostPort(w.endpoint.Hostname(), port))
	if err != nil {
		return w.judge("connect", "Connection", "", &problem{finding: "no_answer", detail: err.Error(), mend: mendNoAnswer})
	}
	defer conn.Close()
	secured := tls.Client(conn, &tls.Config{ServerName: w.endpoint.Hostname(), InsecureSkipVerify: true, MinVersion: tls.VersionTLS10})
	if err := secured.HandshakeContext(ctx); err != nil {
		return w.judge(check, title, "", &problem{finding: "no_tls", detail: err.Error(),
			mend: "Nothing speaks TLS here. Gatehouse itself speaks plain http; the proxy in front must hold the certificate."})
	}
	state := secured.ConnectionState()
	p := w.judgeTLS(state)
	w.judge(check, title, fmt.Sprintf("by %s, valid until %s, %s", issuerOf(state.PeerCertificates[0]),
		state.PeerCertificates[0].NotAfter.UTC().Format(time.DateOnly), tls.VersionName(state.Version)), p)
	if p != nil && !p.mild {
		w.secure = false
	}
	return state.Version >= tls.VersionTLS12
}

func issuerOf(c *x509.Certificate) string {
	if len(c.Issuer.Organization) > 0 {
		return c.Issuer.Organization[0]
	}
	return c.Issuer.CommonName
}

func (w *walk) judgeTLS(state tls.ConnectionState) *problem {
	leaf, now := state.PeerCertificates[0], w.o.Now()
	between := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: w.endpoint.Hostname(), Roots: w.o.Roots, Intermediates: between, CurrentTime: now})
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	switch {
	case state.Version < tls.VersionTLS12:
		return &problem{finding: "old_tls", detail: "the newest version on offer is " + tls.VersionName(state.Version), mend: "Allow TLS 1.2 and 1.3 in the proxy."}
	case now.After(leaf.NotAfter):
		return &problem{finding: "expired", detail: "it ended on " + leaf.NotAfter.UTC().Format(time.DateOnly), mend: "Renew it, and find out why that did not happen by itself."}
	case errors.As(err, &name):
		return &problem{finding: "wrong_name", detail: err.Error(), mend: "Get a certificate for " + w.endpoint.Hostname() + "; the proxy may be showing its default one."}
	case errors.As(err, &unknown) && len(state.PeerCertificates) == 1 && leaf.Subject.String() != leaf.Issuer.String():
		return &problem{finding: "incomplete_chain", detail: "the server sends its certificate without the intermediate of " + issuerOf(leaf),
			mend: "Configure the full chain (nginx: ssl_certificate fullchain.pem). Browsers fetch the missing part, apps do not."}
	case errors.As(err, &unknown):
		return &problem{finding: "untrusted", detail: "it is self-signed or from an authority that apps do not know", mend: "Use a certificate of a public authority, such as Let's Encrypt."}
	case err != nil:
		return &problem{finding: "invalid", detail: err.Error(), mend: "Replace the certificate."}
	case leaf.NotAfter.Sub(now) < 7*24*time.Hour:
		return &problem{finding: "expires_soon", mild: true, detail: "it ends on " + leaf.NotAfter.UTC().Format(time.DateOnly), mend: "Check that renewal works."}
	}
	return nil
}
