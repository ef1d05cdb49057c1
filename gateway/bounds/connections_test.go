package bounds

import (
	"net"
	"net/netip"
	"testing"
)

func from(ip string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(ip)) }

// An address has so many connections on which nobody is known, and a user so many
// others; who ends one may have another.
func TestConnectionsAreBounded(t *testing.T) {
	c := NewConnections(ConnectionLimits{PerAddress: 2, PerUser: 2})
	count := func(want ConnectionCounts) {
		t.Helper()
		if got := c.Count(); got != want {
			t.Errorf("%+v, not %+v", got, want)
		}
	}
	a, b := c.Open(from("192.0.2.1:1")), c.Open(from("192.0.2.1:2"))
	if a == nil || b == nil || c.Open(from("[::ffff:192.0.2.1]:3")) != nil {
		t.Fatal("not two connections of one address")
	}
	other := c.Open(from("192.0.2.2:1"))
	if other == nil {
		t.Fatal("another address has no room")
	}
	count(ConnectionCounts{Unidentified: 3, RefusedAddress: 1})
	if !a.Belongs("alice", false) || !b.Belongs("alice", false) || !b.Belongs("alice", false) {
		t.Error("not two of one user")
	}
	if other.Belongs("alice", false) {
		t.Error("three of one user")
	}
	count(ConnectionCounts{Unidentified: 1, Identified: 2, RefusedAddress: 1, RefusedUser: 1})
	if !other.Belongs("alice", true) || !other.Belongs("bob", false) {
		t.Error("who is exempt, and who has none, may have one more")
	}
	if again := c.Open(from("192.0.2.1:4")); again == nil {
		t.Error("an address whose connections are somebody's may have no other")
	} else {
		a.Close()
		a.Close()
		if !again.Belongs("alice", false) {
			t.Error("who ended one may have no other")
		}
		again.Close()
	}
	b.Close()
	other.Close()
	count(ConnectionCounts{RefusedAddress: 1, RefusedUser: 1})
	if len(c.users)+len(c.addresses) != 0 {
		t.Errorf("remembered: %v %v", c.users, c.addresses)
	}
	if !a.Belongs("carol", false) || c.Count().Identified != 0 {
		t.Error("one that is closed is counted")
	}
}

// A host has a network of addresses of IPv6; a link has a name that says nothing.
func TestConnectionsOfOneNetwork(t *testing.T) {
	c := NewConnections(ConnectionLimits{PerAddress: 1})
	if c.Open(from("[2001:db8::1]:1")) == nil || c.Open(from("[2001:db8:0:0:ffff::2]:1")) != nil || c.Open(from("[2001:db8:0:1::1]:1")) == nil {
		t.Error("a network is not what 64 bits say")
	}
	if c.Open(from("[fe80::1%eth0]:1")) == nil || c.Open(from("[fe80::2%eth1]:1")) != nil {
		t.Error("links are told apart by name")
	}
	if c.Open(&net.UnixAddr{}) == nil || c.Open(nil) != nil {
		t.Error("what has no address is one")
	}
}

// Without limits there are any number, and nobody's connection is bounded.
func TestConnectionsWithoutBounds(t *testing.T) {
	c := NewConnections(ConnectionLimits{})
	for range 100 {
		if x := c.Open(from("192.0.2.1:1")); x == nil || !x.Belongs("alice", false) {
			t.Fatal("refused")
		}
	}
	var none *Connection
	if !none.Belongs("alice", false) {
		t.Error("refused")
	}
	none.Close()
}
