package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/quarantine"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// Compiler makes modules ready to run; *wasm.Engine is one.
type Compiler interface {
	// Load checks and compiles a module, which cannot be interrupted. The error
	// is a *plugins.LoadError when the module is to blame.
	Load(ctx context.Context, src wasm.Source) (*wasm.Module, error)
}

// Marks remember what is being loaded when the process ends;
// *quarantine.Marks are some.
type Marks interface {
	// Begin fails with a *quarantine.Suspect when the process ended in the
	// same attempt to load key.
	Begin(key, attempt string) (end func(), err error)
}

// loads are the loads that are under way. A compilation cannot be interrupted,
// so one that takes too long is left alone: it keeps its slot, and its result
// waits for whoever asks again. No module has more than one.
//
//	(waits for a slot) -> running -> taken by who started it
//	                         | too long
//	                         v
//	                      left alone -> finished -> taken, or thrown away
type loads struct {
	slots chan struct{}

	mu     sync.Mutex
	byName map[string]*load // guarded by mu: those that were left alone
}

// Loading is how many modules are being loaded, also after Close: the compiler
// may not be closed before that is 0.
func (r *Registry) Loading() int { return len(r.loads.slots) }

// load is one module being loaded.
type load struct {
	name   string
	wanted plugins.Revision // without the bytes
	began  time.Time
	// done is closed when rev and err are set.
	done chan struct{}
	rev  *revision
	err  error
	// unwanted: nobody is going to take the result. Guarded by loads.mu.
	unwanted bool
	discard  func() // closes the result, once; only after done
}

// load loads a revision, or gives up waiting for it. A load that was given up
// is taken up again.
func (r *Registry) load(ctx context.Context, name string, wanted plugins.Revision) (*revision, error) {
	refuse := func(reason plugins.LoadReason, format string, args ...any) error {
		return &plugins.LoadError{Module: name, Reason: reason, Detail: fmt.Sprintf(format, args...)}
	}
	if r.cfg.SafeMode {
		return nil, refuse(plugins.SafeMode, "the gateway runs in safe mode and loads no modules; restart it without --safe-mode")
	}
	if l := r.loads.left(name); l != nil {
		select {
		case <-l.done:
			if r.loads.forget(name); l.wanted.Same(wanted) {
				return l.rev, l.err
			}
			l.discard()
		default:
			return nil, refuse(plugins.Slow, "content %s is still being compiled, since %s", l.wanted.Digest, l.began.UTC().Format(time.RFC3339))
		}
	}
	select {
	case r.loads.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wasm module %q: waiting to be loaded: %w", name, ctx.Err())
	}
	l, err := r.start(ctx, name, wanted)
	if err != nil {
		<-r.loads.slots
		return nil, err
	}
	timeout := time.NewTimer(r.cfg.LoadTimeout)
	defer timeout.Stop()
	select {
	case <-l.done:
		return l.rev, l.err
	case <-timeout.C:
		r.loads.leave(l)
		return nil, refuse(plugins.Slow, "it was not compiled within %s; that goes on, and it is tried again", r.cfg.LoadTimeout)
	case <-ctx.Done():
		r.loads.leave(l)
		return nil, fmt.Errorf("wasm module %q: loading: %w", name, ctx.Err())
	}
}

// start begins a load in a slot that was taken for it.
func (r *Registry) start(ctx context.Context, name string, wanted plugins.Revision) (*load, error) {
	end := func() {}
	if r.cfg.Marks != nil {
		var err error
		end, err = r.cfg.Marks.Begin(strings.TrimPrefix(wanted.Digest, "sha256:"), wanted.Attempt)
		var suspect *quarantine.Suspect
		if errors.As(err, &suspect) {
			return nil, &plugins.LoadError{Module: name, Reason: plugins.Quarantined, Cause: err,
				Detail: fmt.Sprintf("the gateway ended while content %s was being loaded, so it is not loaded again", wanted.Digest)}
		}
		if err != nil {
			return nil, fmt.Errorf("wasm module %q: %w", name, err)
		}
	}
	l := &load{name: name, wanted: wanted, began: time.Now(), done: make(chan struct{})}
	l.wanted.Bytes, l.wanted.Consent = nil, nil
	l.discard = sync.OnceFunc(func() {
		if l.rev != nil {
			l.rev.close()
		}
	})
	go func() {
		l.rev, l.err = r.build(context.WithoutCancel(ctx), name, wanted)
		end()
		<-r.loads.slots
		close(l.done)
		if r.loads.isUnwanted(l) {
			l.discard()
		}
	}()
	return l, nil
}

// build makes a revision that runs.
func (r *Registry) build(ctx context.Context, name string, wanted plugins.Revision) (rev *revision, err error) {
	defer func() {
		if p := recover(); p != nil {
			rev, err = nil, &plugins.LoadError{Module: name, Reason: plugins.CompileFailed, Detail: fmt.Sprintf("loading it failed: %v", p)}
		}
	}()
	module, err := r.cfg.Compiler.Load(ctx, wasm.Source{Name: name, Bytes: wanted.Bytes, Config: wanted.Config, Limits: wanted.Limits, Attempt: wanted.Attempt, Branches: wanted.Branches})
	if err != nil {
		return nil, err
	}
	rev = newRevision(r.cfg, r.shelf, module, wanted)
	if err := rev.selfTest(ctx); err != nil {
		rev.close()
		return nil, err
	}
	return rev, nil
}

// left is the load of a name that was left alone, nil for none.
func (s *loads) left(name string) *load {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}

// leave leaves a load alone.
func (s *loads) leave(l *load) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byName[l.name] = l
}

func (s *loads) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byName, name)
}

// drop throws away what was left alone under a name, now or when it is
// finished.
func (s *loads) drop(name string) {
	s.mu.Lock()
	l := s.byName[name]
	delete(s.byName, name)
	if l != nil {
		l.unwanted = true
	}
	s.mu.Unlock()
	if l == nil {
		return
	}
	select {
	case <-l.done:
		l.discard()
	default: // whoever finishes it sees that it is unwanted
	}
}

func (s *loads) isUnwanted(l *load) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.unwanted
}
