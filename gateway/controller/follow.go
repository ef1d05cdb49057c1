package controller

import (
	"context"
	"time"
)

// followDelay gathers the changes of a busy scope into one wake-up.
const followDelay = 20 * time.Millisecond

// Add implements [Queue].
func (r *runner) Add(key Key) { r.queue.Add(key) }

// AddAfter implements [Queue].
func (r *runner) AddAfter(key Key, d time.Duration) { r.queue.AddAfter(key, d) }

// Follow implements [Queue].
func (r *runner) Follow(key Key, scopes ...Scope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	old, now := r.follows[key], map[Scope]context.CancelFunc{}
	for _, s := range scopes {
		if cancel, ok := old[s]; ok {
			now[s] = cancel
			delete(old, s)
		} else if now[s] == nil {
			now[s] = r.followScopeLocked(key, s)
		}
	}
	for _, cancel := range old {
		cancel()
	}
	if len(now) == 0 {
		delete(r.follows, key)
		return
	}
	r.follows[key] = now
}

// followScopeLocked starts to wake key on changes in s. It is called by
// workers only, so running cannot reach zero meanwhile.
func (r *runner) followScopeLocked(key Key, s Scope) context.CancelFunc {
	ctx, cancel := context.WithCancel(r.ctx)
	r.running.Go(func() {
		r.follow(ctx, s.GroupResource, func(namespace, name string) {
			if name == "" || s.Namespace == "" || s.Namespace == namespace {
				r.queue.AddAfter(key, followDelay)
			}
		})
	})
	// What happened before the follower was there made no event.
	r.queue.AddAfter(key, 5*followDelay)
	return cancel
}
