package limit

import "net/netip"

// Network is the network an address counts for: an IPv4 address by itself, an IPv6 address by its /64, because one
// household or server commands a whole /64. What is no address counts for one network of its own.
func Network(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return "unknown"
	}
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	p, err := a.Prefix(64)
	if err != nil {
		return "unknown"
	}
	return p.String()
}
