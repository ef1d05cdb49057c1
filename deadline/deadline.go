// Package deadline owns contexts that end at a time, or when they are told to,
// and cost little where nobody waits for their end, as for most requests, which
// are answered from memory, and for most calls of modules, which find an instance
// that is idle.
//
// It must not know what is done in that time.
package deadline

import (
	"context"
	"sync"
	"time"
)

// WithTimeout is [context.WithTimeout] that costs a timer, and a place among its
// parent's children, only if somebody waits for its end.
func WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	l := &lazy{Context: parent, at: time.Now().Add(d)}
	if at, ok := parent.Deadline(); ok && at.Before(l.at) {
		l.at = at
	}
	return l, l.end
}

// lazy is a context that ends at a time, or with its parent.
type lazy struct {
	context.Context // the parent
	at              time.Time

	mu sync.Mutex
	// inner is made when somebody waits; cancel is not nil from then on.
	inner  context.Context
	cancel context.CancelFunc
	over   bool
}

// end is the context's cancel function.
func (l *lazy) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = l.over || time.Now().Before(l.at) // past that the reason stays the deadline
	if l.cancel != nil {
		l.cancel()
	}
}

// Deadline implements [context.Context].
func (l *lazy) Deadline() (time.Time, bool) { return l.at, true }

// Done implements [context.Context].
func (l *lazy) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner == nil {
		l.inner, l.cancel = context.WithDeadline(l.Context, l.at)
		if l.over {
			l.cancel()
		}
	}
	return l.inner.Done()
}

// Err implements [context.Context].
func (l *lazy) Err() error {
	l.mu.Lock()
	inner, over := l.inner, l.over
	l.mu.Unlock()
	if inner != nil {
		return inner.Err()
	}
	if err := l.Context.Err(); err != nil {
		return err
	}
	switch {
	case over:
		return context.Canceled
	case !time.Now().Before(l.at):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements [context.Context]. Contexts made of this one have asked for
// Done before, find the inner one by it, and need no goroutine to learn of its
// end.
func (l *lazy) Value(key any) any {
	l.mu.Lock()
	inner := l.inner
	l.mu.Unlock()
	if inner != nil {
		return inner.Value(key)
	}
	return l.Context.Value(key)
}
