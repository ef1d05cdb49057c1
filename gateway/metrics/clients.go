package metrics

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of what is remembered of clients: clients choose what they call themselves.
const (
	// MaxClients is how many clients of versions are told apart, and MaxAgents how many
	// names of programs of one user of one version. What is beyond goes to [OtherClients].
	MaxClients = 4000
	MaxAgents  = 16
	// maxClientName is how much is kept of a name.
	maxClientName = 256
)

// OtherClients stands for the names of those that are not told apart.
const OtherClients = "(others)"

// Clients remembers who asked for which version of resources that have several: metrics
// themselves name nobody. It is safe for concurrent use.
type Clients struct {
	now   func() time.Time
	since time.Time

	mu     sync.RWMutex
	counts map[clientKey]*clientCount // guarded by mu
	agents map[clientKey]int          // guarded by mu: how many there are of a key without one
}

type clientKey struct{ group, resource, version, user, agent string }

// clientCount is of one client.
type clientCount struct{ requests, last atomic.Int64 }

// Client is who asked for a version.
type Client struct {
	Version string
	// User is who was authenticated, and Agent what the program calls itself; either is
	// [OtherClients] where there are too many.
	User, Agent string
	// Requests is how many there were, and Last when the last one came.
	Requests int64
	Last     time.Time
}

func newClients() *Clients {
	c := &Clients{now: time.Now, counts: map[clientKey]*clientCount{}, agents: map[clientKey]int{}}
	c.since = c.now()
	return c
}

// Asked counts a request. The strings may live in memory that is reused.
func (c *Clients) Asked(group, version, resource, user, agent string) {
	key := clientKey{group, resource, version, clipped(user), clipped(agent)}
	c.mu.RLock()
	n := c.counts[key]
	c.mu.RUnlock()
	if n == nil {
		n = c.add(key)
	}
	n.requests.Add(1)
	n.last.Store(c.now().UnixNano())
}

// add is the count of a key, or of those that it is counted with.
func (c *Clients) add(key clientKey) *clientCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	user := key
	user.agent = ""
	switch {
	case len(c.counts) >= MaxClients:
		key.user, key.agent = OtherClients, ""
	case c.agents[user] >= MaxAgents:
		key.agent = OtherClients
	}
	if n := c.counts[key]; n != nil {
		return n
	}
	key = key.clone()
	n := &clientCount{}
	c.counts[key] = n
	key.agent = ""
	c.agents[key]++
	return n
}

func (k clientKey) clone() clientKey {
	for _, s := range []*string{&k.group, &k.resource, &k.version, &k.user, &k.agent} {
		*s = strings.Clone(*s)
	}
	return k
}

func clipped(name string) string { return name[:min(len(name), maxClientName)] }

// Of are the clients of a resource, and since when they were counted.
func (c *Clients) Of(group, resource string) (all []Client, since time.Time) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for key, n := range c.counts {
		if key.group == group && key.resource == resource {
			all = append(all, Client{
				Version: key.version, User: strings.ToValidUTF8(key.user, "\ufffd"), Agent: strings.ToValidUTF8(key.agent, "\ufffd"),
				Requests: n.requests.Load(), Last: time.Unix(0, n.last.Load()),
			})
		}
	}
	slices.SortFunc(all, func(a, b Client) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.User, b.User), cmp.Compare(a.Agent, b.Agent))
	})
	return all, c.since
}
