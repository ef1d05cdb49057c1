package api

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time, and costs a timer only if
// somebody waits for its end: most requests are answered from memory before
// anybody does.
type deadline struct {
	at time.Time

	mu sync.Mutex
	// inner is made when somebody waits; cancel is not nil from then on.
	inner  context.Context
	cancel context.CancelFunc
	ended  bool
}

// withTimeout is [context.WithTimeout] of the background.
func withTimeout(d time.Duration) (context.Context, context.CancelFunc) {
	c := &deadline{at: time.Now().Add(d)}
	return c, c.end
}

// end is the context's cancel function.
func (c *deadline) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = c.ended || time.Now().Before(c.at) // past that the reason stays the deadline
	if c.cancel != nil {
		c.cancel()
	}
}

// armed is the context that does the work.
func (c *deadline) armed() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inner == nil {
		c.inner, c.cancel = context.WithDeadline(context.Background(), c.at)
		if c.ended {
			c.cancel()
		}
	}
	return c.inner
}

// Deadline implements [context.Context].
func (c *deadline) Deadline() (time.Time, bool) { return c.at, true }

// Done implements [context.Context].
func (c *deadline) Done() <-chan struct{} { return c.armed().Done() }

// Err implements [context.Context].
func (c *deadline) Err() error {
	c.mu.Lock()
	inner, ended := c.inner, c.ended
	c.mu.Unlock()
	switch {
	case inner != nil:
		return inner.Err()
	case ended:
		return context.Canceled
	case !time.Now().Before(c.at):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context]. Contexts made of this one have asked for
// Done before, find the inner one by it, and so need no goroutine to learn of
// its end. There are no other values.
func (c *deadline) Value(key any) any {
	c.mu.Lock()
	inner := c.inner
	c.mu.Unlock()
	if inner == nil {
		return nil
	}
	return inner.Value(key)
}
