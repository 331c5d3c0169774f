package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Allowed is one place that an administrator opened: a network or a host name, on one port or on all.
type Allowed struct {
	// Network is set for networks and addresses.
	Network netip.Prefix
	// Host is set for names: exactly this name, whatever address it has.
	Host string
	// Port is 0 for all ports.
	Port uint16
}

// ParseAllow reads the value of GATEHOUSE_FETCH_ALLOW: networks (10.0.5.0/24, fd00::/8), addresses (192.168.1.4, ::1) and
// host names (charts.internal), separated by commas, each with an optional port (10.0.5.0/24:443, [::1]:8443,
// charts.internal:8090).
func ParseAllow(value string) ([]Allowed, error) {
	var list []Allowed
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		a, err := parseAllowed(item)
		if err != nil {
			return nil, fmt.Errorf("allowed network %q: %w", item, err)
		}
		list = append(list, a)
	}
	return list, nil
}

func parseAllowed(item string) (Allowed, error) {
	if a, ok := parseNetwork(item); ok {
		return a, nil
	}
	place, port, err := splitPort(item)
	if err != nil {
		return Allowed{}, err
	}
	a, ok := parseNetwork(place)
	if !ok {
		if !isHostName(place) {
			return Allowed{}, errors.New("not a network, an address or a host name")
		}
		a.Host = strings.ToLower(place)
	}
	a.Port = port
	return a, nil
}

// parseNetwork reads a network or a single address, with or without brackets.
func parseNetwork(s string) (Allowed, bool) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		address, closed := strings.CutSuffix(inner, "]")
		if !closed {
			return Allowed{}, false
		}
		s = address
	}
	if p, err := netip.ParsePrefix(s); err == nil {
		return Allowed{Network: p.Masked()}, !p.Addr().Is4In6()
	}
	if ip, err := netip.ParseAddr(s); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return Allowed{Network: netip.PrefixFrom(ip, ip.BitLen())}, true
	}
	return Allowed{}, false
}

// splitPort cuts a port off the end, if there is one.
func splitPort(s string) (string, uint16, error) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") {
		return s, 0, nil
	}
	port, err := strconv.ParseUint(s[i+1:], 10, 16)
	if err != nil || port == 0 {
		return "", 0, errors.New("not a port")
	}
	return s[:i], uint16(port), nil
}

func isHostName(s string) bool {
	if s == "" || len(s) > 253 || net.ParseIP(s) != nil {
		return false
	}
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, notHostCharacter) {
			return false
		}
	}
	// A last label of digits would be a misspelt address.
	return strings.ContainsFunc(labels[len(labels)-1], func(r rune) bool { return r < '0' || r > '9' })
}

func notHostCharacter(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
