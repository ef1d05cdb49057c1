// Package pool owns a bounded set of things that are expensive to make and are
// used by one goroutine at a time: instances of modules.
//
// It must not know what it holds. plugins/registry calls it. No lock is held
// while something is made, used or closed, so a member that hangs in guest code
// delays nobody but its own user and those who wait for a place.
package pool

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"time"
)

// ErrDrained is returned by Take after Drain: the pool takes no new users.
var ErrDrained = errors.New("the pool is drained")

// Config describes a pool.
type Config[T any] struct {
	// New makes a member; it may block, and is given Take's context.
	New func(ctx context.Context) (T, error)
	// Close ends a member.
	Close func(T)
	// Max is how many members exist at once; at least 1. One that the shelf
	// gives back may still be closing while its successor is made.
	Max int
	// MaxUses is after how many uses a member is replaced; 0 means never.
	MaxUses int
	// Discards is how many members may be discarded before it is made slower to
	// replace them.
	Discards Allowance
	// Shelf is where idle members are, nil for a shelf of the pool's own.
	Shelf *Shelf
	// Size is what an idle member takes on the shelf; nil means nothing.
	Size func(T) int64
}

// Pool hands out members. It is safe for concurrent use.
//
// A place is a permission for one member to exist; there are Max. A member is
// idle (on the shelf), or taken, and owns its place until it is closed:
//
//	Take -> idle member, or New in a free place, or wait
//	Return -> idle, or closed when drained or worn out
//	Discard -> closed, place free; the next New waits where this is frequent
//	Drain -> idle ones closed now, taken ones when they come back
//	the shelf is full -> the one that was idle for longest closed, place free
type Pool[T any] struct {
	cfg   Config[T]
	shelf *Shelf
	// places has a token for every member that may be taken now.
	places chan struct{}

	// What follows is guarded by the lock of the shelf.

	idle      []*Lease[T] // the last used at the end
	taken     int         // members that are used, or being closed
	closing   int         // those of them that were idle before
	givenBack int64       // how many the shelf ever gave back
	account   account     // of discards
	drained   bool

	// draining is closed by Drain, empty when the last member is gone.
	draining chan struct{}
	empty    chan struct{}
}

// Lease is a member that is taken. It has to be given back with exactly one
// call of Return, Discard or End.
type Lease[T any] struct {
	// Value is the member; it may be used until the lease is given back.
	Value T

	pool *Pool[T]
	uses int
	// bytes and place are its size and where it is on the shelf while it is
	// idle.
	bytes int64
	place *list.Element
}

// New makes a pool; it makes no members yet.
func New[T any](cfg Config[T]) *Pool[T] {
	cfg.Max = max(cfg.Max, 1)
	if cfg.Shelf == nil {
		cfg.Shelf = NewShelf(0)
	}
	if cfg.Size == nil {
		cfg.Size = func(T) int64 { return 0 }
	}
	p := &Pool[T]{cfg: cfg, shelf: cfg.Shelf, places: make(chan struct{}, cfg.Max), draining: make(chan struct{}), empty: make(chan struct{})}
	p.account = account{left: float64(cfg.Discards.Burst), at: time.Now()}
	for range cfg.Max {
		p.places <- struct{}{}
	}
	return p
}

// Take returns an idle member, or makes one, or waits for one. The error is
// ErrDrained, that of ctx, or that of New.
func (p *Pool[T]) Take(ctx context.Context) (*Lease[T], error) {
	select {
	case <-p.draining:
		return nil, ErrDrained
	default:
	}
	select {
	case <-p.places: // without asking for ctx's end, which may cost a timer
	default:
		select {
		case <-p.places:
		case <-p.draining:
			return nil, ErrDrained
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	l, err := p.begin()
	if l != nil || err != nil {
		return l, err
	}
	made := false
	defer func() {
		if !made { // also if New panics
			p.release()
		}
	}()
	if err := p.pace(ctx); err != nil {
		return nil, err
	}
	value, err := p.cfg.New(ctx)
	if err != nil {
		return nil, err
	}
	made = true
	return &Lease[T]{Value: value, pool: p}, nil
}

// begin takes an idle member; nil means that one has to be made.
func (p *Pool[T]) begin() (*Lease[T], error) {
	p.shelf.mu.Lock()
	defer p.shelf.mu.Unlock()
	if p.drained {
		return nil, ErrDrained
	}
	p.taken++
	n := len(p.idle)
	if n == 0 {
		return nil, nil
	}
	l := p.idle[n-1]
	p.idle[n-1] = nil
	p.idle = p.idle[:n-1]
	p.shelf.takeLocked(l.place)
	return l, nil
}

// Return gives the member back for others to use.
func (l *Lease[T]) Return() {
	p := l.pool
	l.uses++
	l.bytes = p.cfg.Size(l.Value)
	p.shelf.mu.Lock()
	p.account.left = min(p.account.left+p.cfg.Discards.PerUse, float64(p.cfg.Discards.Burst))
	if p.drained || p.cfg.MaxUses > 0 && l.uses >= p.cfg.MaxUses {
		p.shelf.mu.Unlock()
		l.End()
		return
	}
	p.idle = append(p.idle, l)
	p.taken--
	l.place = p.shelf.putLocked(l)
	closes := p.shelf.overLocked()
	p.shelf.mu.Unlock()
	p.places <- struct{}{}
	for _, f := range closes {
		f()
	}
}

// size implements idler.
func (l *Lease[T]) size() int64 { return l.bytes }

// giveBackLocked implements idler.
func (l *Lease[T]) giveBackLocked() (closes func()) {
	l.pool.givenBack++
	return l.closingLocked()
}

// closingLocked takes an idle member away. Its place is free from now on; whoever
// waits until the pool is empty waits for the end of the member too.
func (l *Lease[T]) closingLocked() (closes func()) {
	p := l.pool
	i := slices.Index(p.idle, l)
	p.idle = slices.Delete(p.idle, i, i+1)
	p.taken++
	p.closing++
	return func() {
		p.cfg.Close(l.Value)
		p.ended(true)
	}
}

// Discard closes the member, as has to be done after any failure in it.
func (l *Lease[T]) Discard() {
	p := l.pool
	if p.cfg.Discards.PerSecond > 0 {
		p.shelf.mu.Lock()
		p.account.add(-1, p.cfg.Discards, time.Now())
		p.shelf.mu.Unlock()
	}
	l.End()
}

// End closes the member, which is not to blame for that: its user left it in the
// middle of something, or it is worn out.
func (l *Lease[T]) End() {
	l.pool.cfg.Close(l.Value)
	l.pool.release()
}

// release frees the place of a taken member that is no more.
func (p *Pool[T]) release() {
	p.ended(false)
	p.places <- struct{}{}
}

// ended books the end of a taken member.
func (p *Pool[T]) ended(wasIdle bool) {
	p.shelf.mu.Lock()
	p.taken--
	if wasIdle {
		p.closing--
	}
	last := p.drained && p.taken == 0
	p.shelf.mu.Unlock()
	if last {
		close(p.empty)
	}
}

// Drain closes all idle members and refuses new users. It does not wait for
// members that are taken; Empty tells when these are closed too.
func (p *Pool[T]) Drain() {
	p.shelf.mu.Lock()
	if p.drained {
		p.shelf.mu.Unlock()
		return
	}
	p.drained = true
	var closes []func()
	for _, l := range slices.Clone(p.idle) {
		p.shelf.takeLocked(l.place)
		closes = append(closes, l.closingLocked())
	}
	last := p.taken == 0
	p.shelf.mu.Unlock()
	close(p.draining)
	for _, f := range closes {
		f()
	}
	if last {
		close(p.empty)
	}
}

// Empty is closed when the pool was drained and its last member is closed.
func (p *Pool[T]) Empty() <-chan struct{} { return p.empty }

// Stats is how many members a pool has.
type Stats struct {
	// Idle are those that nobody uses, and IdleSize what they take.
	Idle     int
	IdleSize int64
	// InUse are those that are used, or being made.
	InUse int
	// Max is how many there may be.
	Max int
	// GivenBack is how many idle ones were ever closed to make room for others.
	GivenBack int64
	// HeldBack is how many had to wait before they were made, as too many were
	// discarded.
	HeldBack int64
}

// Stats are those of this moment.
func (p *Pool[T]) Stats() Stats {
	p.shelf.mu.Lock()
	defer p.shelf.mu.Unlock()
	s := Stats{Idle: len(p.idle), InUse: p.taken - p.closing, Max: p.cfg.Max, GivenBack: p.givenBack, HeldBack: p.account.held}
	for _, l := range p.idle {
		s.IdleSize += l.bytes
	}
	return s
}
