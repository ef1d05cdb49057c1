package registry

import (
	"context"
	"time"
)

// patience is how long a call waits for a module that may have served before
// the process started, or is being loaded.
const patience = 10 * time.Second

// await returns the revision of a module that serves once what served before is
// loaded, and its own first revision, if one is being loaded; or nil. Whoever
// was told by another gateway that the module serves need not try again.
func (r *Registry) await(ctx context.Context, name string) *revision {
	late := time.NewTimer(patience)
	defer late.Stop()
	starts := r.cfg.Loaded
	for {
		changed := r.nextChange()
		setting := r.isSet(name) // before a look at what serves: when it ends in between, that is there
		if rev := r.active(name); rev != nil {
			return rev
		}
		if starts == nil && !setting {
			return nil
		}
		select {
		case <-changed:
		case <-starts:
			starts = nil
		case <-late.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// isSet tells whether a module is being set, and never failed before.
func (r *Registry) isSet(name string) bool {
	e := r.lookup(name)
	return e != nil && e.status.Load().Failure == nil && e.setting.Load() > 0
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
