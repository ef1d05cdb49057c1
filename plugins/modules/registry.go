package modules

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
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
}

// Registry is the set of modules. It is safe for concurrent use.
type Registry struct {
	cfg Config

	mu      sync.RWMutex
	entries map[string]*entry // guarded by mu
	closed  bool              // guarded by mu
	drains  sync.WaitGroup    // revisions that are being drained

	loads loads
}

// entry is everything about one name.
type entry struct {
	// changing is held while a revision is loaded, which can take seconds.
	changing sync.Mutex
	removed  bool // guarded by changing

	active atomic.Pointer[revision]
	status atomic.Pointer[Status]
}

// Spec is what a module is to be.
type Spec struct {
	// Name is what a wasm:// URL names.
	Name string
	// Bytes are the module; they are not kept or changed.
	Bytes []byte
	// Digest is the digest of Bytes, "sha256:" and hex, as whoever got the
	// bytes has made sure.
	Digest string
	// Config is JSON for the module; empty for none.
	Config []byte
	Limits plugins.Limits
	// Attempt is any text. Content that the process ended with is loaded again
	// only in another attempt.
	Attempt string
}

// Status says what is known of a module. It is a copy.
type Status struct {
	// Digest and the fields after it describe the revision that serves; they
	// are zero when none does.
	Digest string
	Size   int
	ABI    int
	Hooks  []plugins.Hook
	// Description is the JSON object of the module about itself, nil for none.
	Description []byte
	// Failure is why the last revision that was set does not serve; nil when it
	// does. FailedDigest is that revision's.
	Failure      *plugins.LoadError
	FailedDigest string
}

// Ready says whether a revision serves.
func (s Status) Ready() bool { return s.Digest != "" }

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
		cfg: cfg, entries: map[string]*entry{},
		loads: loads{slots: make(chan struct{}, cfg.Loads), byName: map[string]*load{}},
	}
}

var errClosed = errors.New("the module registry is closed")

// Set makes spec the revision of its name that serves. It checks, compiles and
// starts it first, which takes a second or so; until then, and for good when it
// is refused, the revision before goes on serving. The error is a
// *plugins.LoadError when the module is refused, which is in the status too;
// any other error may go away by itself.
func (r *Registry) Set(ctx context.Context, spec Spec) (Status, error) {
	if spec.Digest == "" {
		return Status{}, fmt.Errorf("wasm module %q: set without a digest", spec.Name)
	}
	for {
		e, err := r.entry(spec.Name)
		if err != nil {
			return Status{}, err
		}
		status, again, err := r.set(ctx, e, spec)
		if !again {
			return status, err
		}
	}
}

// entry returns the entry of a name, made if need be.
func (r *Registry) entry(name string) (*entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	e := r.entries[name]
	if e == nil {
		e = &entry{}
		e.status.Store(&Status{})
		r.entries[name] = e
	}
	return e, nil
}

func (r *Registry) set(ctx context.Context, e *entry, spec Spec) (status Status, again bool, err error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.removed {
		return Status{}, true, nil
	}
	old := e.active.Load()
	if old != nil && old.is(spec) {
		s := old.status()
		e.status.Store(&s)
		return s, false, nil
	}
	next, err := r.load(ctx, spec)
	if err != nil {
		s := *e.status.Load()
		var refused *plugins.LoadError
		if errors.As(err, &refused) {
			s.Failure, s.FailedDigest = refused, spec.Digest
			e.status.Store(&s)
		}
		return s, false, err
	}
	next.follow(old)
	s := next.status()
	e.status.Store(&s)
	e.active.Store(next)
	r.retire(old)
	return s, false, nil
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
	r.mu.RLock()
	e := r.entries[name]
	r.mu.RUnlock()
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
	r.loads.drop(name)
	r.retire(e.active.Swap(nil))
}

// Status tells about a module; ok is false when the name was never set.
func (r *Registry) Status(name string) (s Status, ok bool) {
	r.mu.RLock()
	e := r.entries[name]
	r.mu.RUnlock()
	if e == nil {
		return Status{}, false
	}
	return *e.status.Load(), true
}

// active returns the revision that serves, or nil.
func (r *Registry) active(name string) *revision {
	r.mu.RLock()
	e := r.entries[name]
	r.mu.RUnlock()
	if e == nil {
		return nil
	}
	return e.active.Load()
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
