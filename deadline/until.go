package deadline

import (
	"context"
	"sync"
	"time"
)

// Until is a context that ends when it is told to, and costs nothing where
// nobody waits for it. Its zero value is one that has not ended. It is safe for
// concurrent use and must not be copied.
type Until struct {
	mu sync.Mutex
	// inner is made when somebody waits; cancel is not nil from then on.
	inner  context.Context
	cancel context.CancelFunc
	over   bool
}

// End ends the context, with [context.Canceled].
func (u *Until) End() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	if u.cancel != nil {
		u.cancel()
	}
}

// Deadline implements [context.Context].
func (u *Until) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements [context.Context].
func (u *Until) Done() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.inner == nil {
		u.inner, u.cancel = context.WithCancel(context.Background())
		if u.over {
			u.cancel()
		}
	}
	return u.inner.Done()
}

// Err implements [context.Context].
func (u *Until) Err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over {
		return context.Canceled
	}
	return nil
}

// Value implements [context.Context]. Contexts made of this one have asked for
// Done before, find the inner one by it, and need no goroutine to learn of its
// end.
func (u *Until) Value(key any) any {
	u.mu.Lock()
	inner := u.inner
	u.mu.Unlock()
	if inner == nil {
		return nil
	}
	return inner.Value(key)
}
