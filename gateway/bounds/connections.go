package bounds

import (
	"net"
	"net/netip"
	"sync"
)

// ConnectionLimits are how many connections may be open at a time; 0 means any number.
type ConnectionLimits struct {
	// PerAddress is of those from one address on which nobody was identified: for IPv6,
	// from one network of 64 bits, as a host has all of these to choose from.
	PerAddress int
	// PerUser is of those whose last request was one user's who is not exempt.
	PerUser int
}

// Connections counts the connections that are open. It is safe for concurrent use.
type Connections struct {
	limits ConnectionLimits

	mu        sync.Mutex
	addresses map[netip.Prefix]int
	users     map[string]int
	now       ConnectionCounts
}

// ConnectionCounts are all connections at one moment.
type ConnectionCounts struct {
	// Unidentified are open and nobody's yet, Identified open and somebody's.
	Unidentified, Identified int
	// RefusedAddress and RefusedUser are how many were not taken since the gateway
	// started, as one address, or one user, had too many.
	RefusedAddress, RefusedUser uint64
}

// NewConnections makes Connections of which none is open.
func NewConnections(l ConnectionLimits) *Connections {
	return &Connections{limits: l, addresses: map[netip.Prefix]int{}, users: map[string]int{}}
}

// Connection is one that is open. One goroutine at a time asks whose it is; any may
// close it. Nil is bounded by nothing.
type Connection struct {
	of *Connections
	// from and closed are guarded by of.mu. So is what follows when it changes.
	from   netip.Prefix
	closed bool
	known  bool
	user   string
}

// Open counts a connection until [Connection.Close], unless its address has too many:
// then it is nil.
func (c *Connections) Open(remote net.Addr) *Connection {
	from := Network(remote)
	c.mu.Lock()
	defer c.mu.Unlock()
	if limit := c.limits.PerAddress; limit > 0 && c.addresses[from] >= limit {
		c.now.RefusedAddress++
		return nil
	}
	c.addresses[from]++
	c.now.Unidentified++
	return &Connection{of: c, from: from}
}

// Network is whom an address is counted as: of IPv6 one of 64 bits; the zero value for what
// is no address.
func Network(a net.Addr) netip.Prefix {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	p, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

// Belongs says whose request came on the connection, which is counted as that user's
// from now on. It reports whether the user may have one more; who is exempt may.
func (x *Connection) Belongs(user string, exempt bool) bool {
	if x == nil || x.known && x.user == user {
		return true
	}
	c := x.of
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.closed {
		return true
	}
	if limit := c.limits.PerUser; limit > 0 && !exempt && c.users[user] >= limit {
		c.now.RefusedUser++
		return false
	}
	x.leave()
	x.known, x.user = true, user
	c.users[user]++
	c.now.Identified++
	return true
}

// leave takes the connection from whom it was counted as; the caller has the lock.
func (x *Connection) leave() {
	c := x.of
	if x.known {
		c.now.Identified--
		less(c.users, x.user)
		return
	}
	c.now.Unidentified--
	less(c.addresses, x.from)
}

// less counts one less, and forgets who has none.
func less[K comparable](of map[K]int, k K) {
	if of[k]--; of[k] == 0 {
		delete(of, k)
	}
}

// Close ends the counting. It may be called more than once.
func (x *Connection) Close() {
	if x == nil {
		return
	}
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	if !x.closed {
		x.closed = true
		x.leave()
	}
}

// Count is how many there are.
func (c *Connections) Count() ConnectionCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}
