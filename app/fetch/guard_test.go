package fetch

import (
	"errors"
	"net/netip"
	"slices"
	"testing"
)

func TestGuardAddresses(t *testing.T) {
	t.Parallel()
	g := NewGuard([]uint16{443}, nil, nil)
	for _, tt := range []struct {
		address string
		ok      bool
	}{
		{"93.184.216.34", true},
		{"1.1.1.1", true},
		{"172.15.0.1", true},
		{"172.32.0.1", true},
		{"2606:4700::1111", true},
		{"::ffff:93.184.216.34", true},
		{"127.0.0.1", false},
		{"127.255.255.254", false},
		{"10.0.0.1", false},
		{"172.16.0.1", false},
		{"172.31.255.255", false},
		{"192.168.1.1", false},
		{"169.254.169.254", false},
		{"100.64.0.1", false},
		{"100.127.255.255", false},
		{"100.100.100.200", false},
		{"0.0.0.0", false},
		{"0.1.2.3", false},
		{"192.0.0.1", false},
		{"192.0.2.1", false},
		{"192.88.99.1", false},
		{"198.18.0.1", false},
		{"198.19.255.255", false},
		{"198.51.100.1", false},
		{"203.0.113.1", false},
		{"224.0.0.1", false},
		{"239.255.255.255", false},
		{"240.0.0.1", false},
		{"255.255.255.255", false},
		{"168.63.129.16", false},
		{"::", false},
		{"::1", false},
		{"::7f00:1", false},
		{"::ffff:10.0.0.1", false},
		{"::ffff:127.0.0.1", false},
		{"::ffff:169.254.169.254", false},
		{"::ffff:0:127.0.0.1", false},
		{"64:ff9b::7f00:1", false},
		{"64:ff9b::5db8:d822", false},
		{"64:ff9b:1::1", false},
		{"100::1", false},
		{"2001::1", false},
		{"2001:2::1", false},
		{"2001:db8::1", false},
		{"2002:7f00:1::1", false},
		{"2002:5db8:d822::1", false},
		{"3fff::1", false},
		{"5f00::1", false},
		{"fc00::1", false},
		{"fd00:ec2::254", false},
		{"fe80::1", false},
		{"fec0::1", false},
		{"ff02::1", false},
	} {
		t.Run("CI-7 "+tt.address, func(t *testing.T) {
			t.Parallel()
			ip := netip.MustParseAddr(tt.address)
			network := "tcp4"
			if ip.Is6() {
				network = "tcp6"
			}
			err := g.Check(network, "name.example", netip.AddrPortFrom(ip, 443).String())
			if tt.ok && err != nil {
				t.Error(err)
			}
			if !tt.ok && !errors.Is(err, ErrRefused) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	g := NewGuard([]uint16{443}, nil, nil)
	for name, in := range map[string][3]string{
		"CI-6 port 80":          {"tcp4", "a.example", "93.184.216.34:80"},
		"CI-6 port 22":          {"tcp4", "a.example", "93.184.216.34:22"},
		"CI-7 UDP":              {"udp4", "a.example", "93.184.216.34:443"},
		"CI-7 Unix socket":      {"unix", "a.example", "/run/x.sock"},
		"CI-7 not an address":   {"tcp4", "a.example", "a.example:443"},
		"CI-7 address and zone": {"tcp6", "a.example", "[fe80::1%eth0]:443"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := g.Check(in[0], in[1], in[2]); !errors.Is(err, ErrRefused) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestGuardAllow(t *testing.T) {
	t.Parallel()
	allow, err := ParseAllow("127.0.0.0/8, 10.0.5.0/24:443,[::1]:8443,charts.internal:8090,169.254.0.0/16,fd00::/8,168.63.129.16")
	if err != nil {
		t.Fatal(err)
	}
	g := NewGuard([]uint16{443}, allow, nil)
	for _, tt := range []struct {
		name, network, host, address string
		ok                           bool
	}{
		{"network, any port", "tcp4", "localhost", "127.0.0.1:39211", true},
		{"network in IPv6 clothes", "tcp6", "localhost", "[::ffff:127.0.0.1]:39211", true},
		{"network with its port", "tcp4", "x", "10.0.5.9:443", true},
		{"network with another port", "tcp4", "x", "10.0.5.9:8443", false},
		{"outside the network", "tcp4", "x", "10.0.6.9:443", false},
		{"address with its port", "tcp6", "x", "[::1]:8443", true},
		{"address with another port", "tcp6", "x", "[::1]:443", false},
		{"host with its port", "tcp4", "Charts.Internal", "192.168.7.7:8090", true},
		{"host with another port", "tcp4", "charts.internal", "192.168.7.7:443", false},
		{"another host", "tcp4", "evil.charts.internal", "192.168.7.7:8090", false},
		{"unique local", "tcp6", "x", "[fd00::5]:9000", true},
		{"cloud metadata is never allowed", "tcp4", "x", "169.254.169.254:80", false},
		{"cloud metadata over IPv6 is never allowed", "tcp6", "x", "[fd00:ec2::254]:80", false},
		{"cloud metadata in IPv6 clothes is never allowed", "tcp6", "x", "[::ffff:169.254.169.254]:80", false},
		{"platform address is never allowed", "tcp4", "x", "168.63.129.16:80", false},
		{"public addresses keep their ports", "tcp4", "x", "93.184.216.34:8443", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := g.Check(tt.network, tt.host, tt.address); (err == nil) != tt.ok {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestParseAllow(t *testing.T) {
	t.Parallel()
	network := func(s string, port uint16) Allowed { return Allowed{Network: netip.MustParsePrefix(s), Port: port} }
	for in, want := range map[string][]Allowed{
		"":                         nil,
		" , ":                      nil,
		"10.0.0.0/8":               {network("10.0.0.0/8", 0)},
		"10.0.0.7/8":               {network("10.0.0.0/8", 0)},
		"10.0.0.7":                 {network("10.0.0.7/32", 0)},
		"10.0.0.7:8080":            {network("10.0.0.7/32", 8080)},
		"::1":                      {network("::1/128", 0)},
		"[::1]":                    {network("::1/128", 0)},
		"[::1]:8443":               {network("::1/128", 8443)},
		"fd00::/8":                 {network("fd00::/8", 0)},
		"fd00::/8:443":             {network("fd00::/8", 443)},
		"::ffff:10.0.0.1":          {network("10.0.0.1/32", 0)},
		"a.internal, B.Internal:9": {{Host: "a.internal"}, {Host: "b.internal", Port: 9}},
	} {
		got, err := ParseAllow(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseAllow(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"10.0.0.0/99", "10.0.0.256", "a.internal:0", "a.internal:70000", "a.internal:x", "*.internal", "https://a.internal", "a_b", "[::1", "::ffff:10.0.0.0/104", "1.2.3", "a..b", "fe80::1%eth0"} {
		if got, err := ParseAllow(in); err == nil {
			t.Errorf("ParseAllow(%q) = %v", in, got)
		}
	}
}

func FuzzParseAllow(f *testing.F) {
	for _, seed := range []string{"10.0.0.0/8:443", "[::1]:1", "a.internal", "fd00::/8,::1", "1.2.3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		list, err := ParseAllow(in)
		if err != nil {
			return
		}
		for _, a := range list {
			if (a.Host == "") != a.Network.IsValid() {
				t.Errorf("ParseAllow(%q) has %+v", in, a)
			}
		}
	})
}
