package flow

import (
	"sync"

	"github.com/wasmgate/wasmgate/gateway/authz"
)

// watched is what a watch is about, but for its selectors.
type watched struct{ group, resource, namespace, name string }

// watches are how many there are of each.
type watches struct {
	mu  sync.Mutex
	all map[watched]int
}

// Watching is a watch that is counted, so that writes are known to be told to it. Its
// zero value is none. It must not be copied while it is used, which is by one goroutine
// at a time.
type Watching struct {
	among *watches
	what  watched
}

// Watch counts a watch until [Watching.End].
func (c *Control) Watch(w *Watching, a *authz.Attributes) {
	*w = Watching{&c.watches, watched{a.Group, a.Resource, a.Namespace, a.Name}}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	c.watches.all[w.what]++
}

// End ends the watch. It may be called more than once.
func (w *Watching) End() {
	if w.among == nil {
		return
	}
	w.among.mu.Lock()
	defer w.among.mu.Unlock()
	if w.among.all[w.what]--; w.among.all[w.what] == 0 {
		delete(w.among.all, w.what)
	}
	*w = Watching{}
}

// Watches is how many watches are told of a write, as far as that is known before: those
// of its kind, of its namespace, and of its object.
func (c *Control) Watches(a *authz.Attributes) int {
	what := watched{group: a.Group, resource: a.Resource}
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	if len(c.watches.all) == 0 {
		return 0
	}
	n := c.watches.all[what]
	if what.namespace = a.Namespace; what.namespace != "" {
		n += c.watches.all[what]
	}
	if what.name = a.Name; what.name != "" {
		n += c.watches.all[what]
	}
	return n
}
