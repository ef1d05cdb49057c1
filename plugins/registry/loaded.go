package registry

import (
	"context"
	"time"
)

// patience is how long a call waits for a module that may have served before
// the process started.
const patience = 10 * time.Second

// await returns the revision of a module that serves once what served before is
// loaded, or nil.
func (r *Registry) await(ctx context.Context, name string) *revision {
	if r.cfg.Loaded == nil {
		return nil
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		changed := r.nextChange()
		if rev := r.active(name); rev != nil {
			return rev
		}
		select {
		case <-changed:
		case <-r.cfg.Loaded:
			return r.active(name)
		case <-late.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// nextChange is closed when a load ends.
func (r *Registry) nextChange() <-chan struct{} {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.changed
}

// tell wakes whoever waits for a load.
func (r *Registry) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.changed)
	r.changed = make(chan struct{})
}
