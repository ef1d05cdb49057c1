// Package pool owns a bounded set of things that are expensive to make and are
// used by one goroutine at a time: instances of modules.
//
// It must not know what it holds. plugins/modules calls it. No lock is held
// while something is made, used or closed, so a member that hangs in guest code
// delays nobody but its own user and those who wait for a place.
package pool

import (
	"context"
	"errors"
	"sync"
)

// ErrDrained is returned by Take after Drain: the pool takes no new users.
var ErrDrained = errors.New("the pool is drained")

// Config describes a pool.
type Config[T any] struct {
	// New makes a member; it may block, and is given Take's context.
	New func(ctx context.Context) (T, error)
	// Close ends a member.
	Close func(T)
	// Max is how many members exist at once; at least 1.
	Max int
	// MaxUses is after how many uses a member is replaced; 0 means never.
	MaxUses int
}

// Pool hands out members. It is safe for concurrent use.
//
// A place is a permission for one member to exist; there are Max. A member is
// idle (in the pool), or taken, and owns its place until it is closed:
//
//	Take -> idle member, or New in a free place, or wait
//	Return -> idle, or closed when drained or worn out
//	Discard -> closed, place free
//	Drain -> idle ones closed now, taken ones when they come back
type Pool[T any] struct {
	cfg Config[T]
	// places has a token for every member that may be taken now.
	places chan struct{}

	mu      sync.Mutex
	idle    []*Lease[T] // guarded by mu, the last used at the end
	taken   int         // guarded by mu
	drained bool        // guarded by mu

	// closing is closed by Drain, empty when the last member is gone.
	closing chan struct{}
	empty   chan struct{}
}

// Lease is a member that is taken. It has to be given back with exactly one
// call of Return or Discard.
type Lease[T any] struct {
	// Value is the member; it may be used until the lease is given back.
	Value T

	pool *Pool[T]
	uses int
}

// New makes a pool; it makes no members yet.
func New[T any](cfg Config[T]) *Pool[T] {
	cfg.Max = max(cfg.Max, 1)
	p := &Pool[T]{cfg: cfg, places: make(chan struct{}, cfg.Max), closing: make(chan struct{}), empty: make(chan struct{})}
	for range cfg.Max {
		p.places <- struct{}{}
	}
	return p
}

// Take returns an idle member, or makes one, or waits for one. The error is
// ErrDrained, that of ctx, or that of New.
func (p *Pool[T]) Take(ctx context.Context) (*Lease[T], error) {
	select {
	case <-p.closing:
		return nil, ErrDrained
	default:
	}
	select {
	case <-p.places: // without asking for ctx's end, which may cost a timer
	default:
		select {
		case <-p.places:
		case <-p.closing:
			return nil, ErrDrained
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	p.mu.Lock()
	if p.drained {
		p.mu.Unlock()
		return nil, ErrDrained
	}
	p.taken++
	if n := len(p.idle); n > 0 {
		l := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return l, nil
	}
	p.mu.Unlock()
	made := false
	defer func() {
		if !made { // also if New panics
			p.release()
		}
	}()
	value, err := p.cfg.New(ctx)
	if err != nil {
		return nil, err
	}
	made = true
	return &Lease[T]{Value: value, pool: p}, nil
}

// Return gives the member back for others to use.
func (l *Lease[T]) Return() {
	p := l.pool
	l.uses++
	p.mu.Lock()
	if p.drained || p.cfg.MaxUses > 0 && l.uses >= p.cfg.MaxUses {
		p.mu.Unlock()
		l.Discard()
		return
	}
	p.idle = append(p.idle, l)
	p.taken--
	p.mu.Unlock()
	p.places <- struct{}{}
}

// Discard closes the member, as has to be done after any failure in it.
func (l *Lease[T]) Discard() {
	l.pool.cfg.Close(l.Value)
	l.pool.release()
}

// release frees the place of a taken member that is no more.
func (p *Pool[T]) release() {
	p.mu.Lock()
	p.taken--
	last := p.drained && p.taken == 0
	p.mu.Unlock()
	p.places <- struct{}{}
	if last {
		close(p.empty)
	}
}

// Drain closes all idle members and refuses new users. It does not wait for
// members that are taken; Empty tells when these are closed too.
func (p *Pool[T]) Drain() {
	p.mu.Lock()
	if p.drained {
		p.mu.Unlock()
		return
	}
	p.drained = true
	idle := p.idle
	p.idle = nil
	last := p.taken == 0
	p.mu.Unlock()
	close(p.closing)
	for _, l := range idle {
		p.cfg.Close(l.Value)
	}
	if last {
		close(p.empty)
	}
}

// Empty is closed when the pool was drained and its last member is closed.
func (p *Pool[T]) Empty() <-chan struct{} { return p.empty }
