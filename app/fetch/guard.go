package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// ErrRefused says that the guard refused an address.
var ErrRefused = errors.New("fetch: address refused")

// neverAllowed are places that no setting opens: cloud providers hand out credentials there.
var neverAllowed = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("fd00:ec2::254/128"),
}

// Guard judges the addresses of outgoing connections.
type Guard struct {
	ports    []uint16
	allow    []Allowed
	special  *ssrf.Guardian
	resolver *net.Resolver
}

// NewGuard makes a guard that lets through public addresses on the ports, and what is allowed. A nil resolver is the
// system's.
func NewGuard(ports []uint16, allow []Allowed, resolver *net.Resolver) *Guard {
	return &Guard{
		ports:    slices.Clone(ports),
		allow:    slices.Clone(allow),
		special:  ssrf.New(ssrf.WithAnyPort()),
		resolver: resolver,
	}
}

// DialContext connects to an address of the form host:port if the guard lets it through.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	dialer := net.Dialer{
		Timeout:  5 * time.Second,
		Resolver: g.resolver,
		// Control runs after the name was resolved, on the address about to be connected to.
		Control: func(network, address string, _ syscall.RawConn) error {
			return g.Check(network, host, address)
		},
	}
	return dialer.DialContext(ctx, network, address)
}

// Check judges a connection to an address (ip:port) made for a host name.
func (g *Guard) Check(network, host, address string) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("%w: network %s", ErrRefused, network)
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil || target.Addr().Zone() != "" {
		return fmt.Errorf("%w: %s is not a plain address", ErrRefused, address)
	}
	// An IPv4 address in IPv6 clothes is judged as the IPv4 address it reaches.
	ip := target.Addr().Unmap()
	for _, never := range neverAllowed {
		if never.Contains(ip) {
			return fmt.Errorf("%w: %s is never allowed", ErrRefused, ip)
		}
	}
	if g.isAllowed(host, ip, target.Port()) {
		return nil
	}
	if !slices.Contains(g.ports, target.Port()) {
		return fmt.Errorf("%w: port %d", ErrRefused, target.Port())
	}
	if err := g.special.SafeAddr(ip); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil
}

func (g *Guard) isAllowed(host string, ip netip.Addr, port uint16) bool {
	return slices.ContainsFunc(g.allow, func(a Allowed) bool {
		if a.Port != 0 && a.Port != port {
			return false
		}
		if a.Host != "" {
			return strings.EqualFold(a.Host, host)
		}
		return a.Network.Contains(ip)
	})
}
