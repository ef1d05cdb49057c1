package registry

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/pool"
)

// Config describes a registry.
type Config struct {
	// Compiler makes modules ready to run. The registry does not close it.
	Compiler Compiler
	// Instances is how many instances of one module there are at most, by
	// default GOMAXPROCS, but at least 2.
	Instances int
	// MaxUses is after how many calls an instance is replaced, by default
	// 10,000.
	MaxUses int
	// IdleBytes is how much linear memory the idle instances of all modules may
	// have together; those that were idle for longest are closed when it is more.
	// 0 means any amount.
	IdleBytes int64
	// Loads is how many modules are loaded at once, by default twice
	// GOMAXPROCS, but at least 4: a few slow ones hold up no other.
	Loads int
	// LoadTimeout is after what time a module is reported as too slow to load,
	// by default a minute.
	LoadTimeout time.Duration
	// Marks, if not nil, hold back what the process ended with.
	Marks Marks
	// SafeMode refuses to load anything.
	SafeMode bool
	// Loaded, if not nil, is closed when what served before the process started
	// was set, and loaded or refused. Until then a call of a module that is not
	// there yet waits for it, for 10 s at most, as it does later while the first
	// revision of the module is being loaded.
	Loaded <-chan struct{}
	// Looked, if not nil, is told what became of each lookup of a module: found,
	// none or refused.
	Looked func(module, outcome string)
	// Observe, if not nil, is told what each call took that an instance was
	// found for, and why the instance was thrown away after it, nil if it was
	// not. It is called before the call returns, possibly several at once.
	Observe func(module string, hook plugins.Hook, used plugins.Usage, discarded error)
	// Failed, if not nil, is told of each call that failed in an instance, by the
	// module's fault or as its answer, and not because the caller went away. The request
	// belongs to the caller; rev has no bytes.
	Failed func(module string, hook plugins.Hook, rev plugins.Revision, request []byte, err error)
	// Hint, if not nil, ends what is said of a conversion that failed: how to see more.
	Hint func(module string) string
	// Begins, if not nil, is told of a revision that is about to serve, before the
	// first call reaches it.
	Begins func(module string, rev plugins.Revision)
}

// Registry is the set of modules. It is safe for concurrent use.
type Registry struct {
	cfg Config

	mu      sync.RWMutex
	entries map[string]*entry // guarded by mu
	grants  sync.Map          // of []plugins.Grant, by the name of the module
	closed  bool              // guarded by mu
	changed chan struct{}     // guarded by mu; closed and replaced when a load has ended
	drains  sync.WaitGroup    // revisions that are being drained

	shelf *pool.Shelf // idle instances
	loads loads
}

// entry is everything about one name.
type entry struct {
	// changing is held while a revision is loaded, which can take seconds.
	changing sync.Mutex
	removed  bool // guarded by changing
	// setting are the calls of Set that are under way.
	setting atomic.Int32

	// pair is held while both are replaced: they tell of one revision.
	pair   sync.Mutex
	active atomic.Pointer[revision]
	status atomic.Pointer[plugins.Status]
}

// tell replaces what is told, by what serves and what is told of it now.
func (e *entry) tell(say func(serving *revision, s plugins.Status) plugins.Status) plugins.Status {
	e.pair.Lock()
	defer e.pair.Unlock()
	s := say(e.active.Load(), *e.status.Load())
	e.status.Store(&s)
	return s
}

// serve replaces what serves and what is told of it, and returns what served before.
func (e *entry) serve(rev *revision, s plugins.Status) *revision {
	e.pair.Lock()
	defer e.pair.Unlock()
	e.status.Store(&s)
	return e.active.Swap(rev)
}

// New makes an empty registry; the caller closes it.
func New(cfg Config) *Registry {
	if cfg.Instances <= 0 {
		cfg.Instances = max(2, runtime.GOMAXPROCS(0))
	}
	if cfg.MaxUses <= 0 {
		cfg.MaxUses = 10000
	}
	if cfg.Loads <= 0 {
		cfg.Loads = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if cfg.LoadTimeout <= 0 {
		cfg.LoadTimeout = time.Minute
	}
	return &Registry{
		cfg: cfg, entries: map[string]*entry{}, changed: make(chan struct{}), shelf: pool.NewShelf(cfg.IdleBytes),
		loads: loads{slots: make(chan struct{}, cfg.Loads), byName: map[string]*load{}},
	}
}

var errClosed = errors.New("the module registry is closed")

// Set makes a revision the one of its name that serves. It checks, compiles and
// starts it first, which takes a second or so; until then, and for good when it
// is refused, the revision before goes on serving. The error is a
// *plugins.LoadError when the revision is refused, which is in the status too;
// any other error may go away by itself.
func (r *Registry) Set(ctx context.Context, name string, rev plugins.Revision) (plugins.Status, error) {
	if rev.Digest == "" {
		return plugins.Status{}, fmt.Errorf("wasm module %q: set without a digest", name)
	}
	for {
		e, err := r.begin(name)
		if err != nil {
			return plugins.Status{}, err
		}
		status, again, err := r.set(ctx, e, name, rev)
		if !again {
			return status, err
		}
	}
}

// begin returns the entry of a name, made if need be, which is being set from then on.
func (r *Registry) begin(name string) (*entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	e := r.entries[name]
	if e == nil {
		e = &entry{}
		e.status.Store(&plugins.Status{})
		r.entries[name] = e
	}
	e.setting.Add(1)
	return e, nil
}

func (r *Registry) set(ctx context.Context, e *entry, name string, rev plugins.Revision) (status plugins.Status, again bool, err error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	defer r.tell()
	defer e.setting.Add(-1)
	if e.removed {
		return plugins.Status{}, true, nil
	}
	old := e.active.Load()
	if old != nil && old.Same(rev) {
		r.loads.drop(name) // what was asked for in between is not wanted any more
		s := e.tell(func(serving *revision, s plugins.Status) plugins.Status {
			if serving == old { // else it was withdrawn meanwhile
				s = old.status()
			}
			return s
		})
		return s.Clone(), false, nil
	}
	next, err := r.load(ctx, name, rev)
	if err == nil && rev.Consent != nil {
		if err = rev.Consent(slices.Clone(next.hooks)); err != nil {
			next.close()
		}
	}
	if err != nil {
		s := e.tell(func(_ *revision, s plugins.Status) plugins.Status {
			var refused *plugins.LoadError
			if errors.As(err, &refused) {
				s.Failure, s.FailedDigest = refused, rev.Digest
			}
			return s
		})
		return s.Clone(), false, err
	}
	next.follow(old)
	if r.cfg.Begins != nil {
		r.cfg.Begins(name, next.Revision)
	}
	s := next.status()
	r.retire(e.serve(next, s)) // nothing where old was withdrawn since
	return s.Clone(), false, nil
}

// Withdraw lets what serves under a name serve no more, at once; calls that are under way
// end normally, and later ones fail with why.
func (r *Registry) Withdraw(name string, why *plugins.LoadError) {
	e := r.lookup(name)
	if e == nil {
		return
	}
	s := plugins.Status{Failure: why}
	e.pair.Lock()
	old := e.active.Swap(nil)
	if old != nil {
		s.FailedDigest = old.Digest
	}
	e.status.Store(&s)
	e.pair.Unlock()
	r.retire(old)
}

// retire closes a revision when its last call has ended.
func (r *Registry) retire(old *revision) {
	if old == nil {
		return
	}
	r.drains.Go(old.close)
}

// Remove forgets a name; calls that are under way end normally.
func (r *Registry) Remove(name string) {
	e := r.lookup(name)
	if e == nil {
		return
	}
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.removed {
		return
	}
	e.removed = true
	r.mu.Lock()
	delete(r.entries, name)
	r.mu.Unlock()
	r.grants.Delete(name)
	r.loads.drop(name)
	r.retire(e.active.Swap(nil))
}

// Status tells about a module; ok is false when the name was never set.
func (r *Registry) Status(name string) (s plugins.Status, ok bool) {
	e := r.lookup(name)
	if e == nil {
		return plugins.Status{}, false
	}
	return e.status.Load().Clone(), true
}

// Known tells whether a name was set.
func (r *Registry) Known(name string) bool { return r.lookup(name) != nil }

// lookup returns the entry of a name, or nil.
func (r *Registry) lookup(name string) *entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.entries[name]
}

// Instances are those of the revisions that serve, by module.
func (r *Registry) Instances() map[string]pool.Stats {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make(map[string]pool.Stats, len(r.entries))
	for name, e := range r.entries {
		if rev := e.active.Load(); rev != nil {
			out[name] = rev.instances.Stats()
		}
	}
	return out
}

// active returns the revision that serves, or nil.
func (r *Registry) active(name string) *revision {
	if e := r.lookup(name); e != nil {
		return e.active.Load()
	}
	return nil
}

// Close removes all modules and waits until no call is under way, or ctx ends.
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	names := make([]string, 0, len(r.entries))
	for name := range r.entries {
		names = append(names, name)
	}
	r.mu.Unlock()
	for _, name := range names {
		r.Remove(name)
	}
	done := make(chan struct{})
	go func() {
		r.drains.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("closing the module registry: %w", ctx.Err())
	}
}
