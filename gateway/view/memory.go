package view

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Memory bounds what is remembered of present objects beside what is stored:
// views, runs, labels. What superseded ones hold counts as history (see
// [watchcache.Options]).
//
//	remembering --more than most?--> look: count what there is
//	                                 more than 7/8 of most?--> give up down to 3/4
//
// What is given up is taken from objects at random: of lists of everything that
// do not fit, those that were used least lately would be the ones that are
// needed next. A nil Memory counts nothing.
type Memory struct {
	// most is how many bytes there may be, about; 0 means any number.
	most int64
	// held is what was remembered since the last look, and what that found. What
	// objects had that are gone is in it until the next.
	held atomic.Int64
	// due holds a value when it is time to look.
	due    chan struct{}
	spared func(n int)
	// expiring: there is something that is kept for a while only.
	expiring atomic.Bool
}

// NewMemory makes a memory of about so many bytes at most; 0 means any number. spared,
// if set, is told of how many objects no conversion was needed as its outcome was
// remembered. It must be cheap.
func NewMemory(most int64, spared func(n int)) *Memory {
	if spared == nil {
		spared = func(int) {}
	}
	return &Memory{most: most, due: make(chan struct{}, 1), spared: spared}
}

// Held is how many bytes are remembered, and what objects had that are gone by now,
// until somebody looks again.
func (m *Memory) Held() int64 { return m.held.Load() }

// Spared notes that so many conversions were not needed.
func (m *Memory) Spared(n int) {
	if m != nil {
		m.spared(n)
	}
}

// Grew notes that n more bytes are remembered.
func (m *Memory) Grew(n int) {
	if m == nil || m.held.Add(int64(n)) <= m.most || m.most <= 0 {
		return
	}
	select {
	case m.due <- struct{}{}:
	default: // somebody is about to
	}
}

// Passing notes that something is remembered that [Kept] says is passing.
func (m *Memory) Passing() {
	if m != nil {
		m.expiring.Store(true)
	}
}

// Run looks whenever it is time, until ctx ends. each visits the present objects.
func (m *Memory) Run(ctx context.Context, each func(visit func(*Entry))) {
	sweep := time.NewTicker(KeepFor / 2)
	defer sweep.Stop()
	for {
		select {
		case <-m.due:
			m.look(each)
		case now := <-sweep.C:
			m.sweep(now.Add(-KeepFor), each)
		case <-ctx.Done():
			return
		}
	}
}

// sweep gives up what was kept for a while and not asked for since a time.
func (m *Memory) sweep(since time.Time, each func(visit func(*Entry))) {
	if !m.expiring.Swap(false) {
		return
	}
	each(func(e *Entry) {
		freed, more := e.expire(since)
		m.held.Add(-int64(freed))
		if more {
			m.expiring.Store(true)
		}
	})
}

// look counts what is remembered, and gives up what is too much.
func (m *Memory) look(each func(visit func(*Entry))) {
	counted := m.held.Load()
	var held int64
	each(func(e *Entry) { held += int64(e.derived()) })
	if held > m.most/8*7 {
		surplus := float64(held-m.most/4*3) / float64(held)
		each(func(e *Entry) {
			if rand.Float64() < surplus {
				held -= int64(e.derived())
				e.Shed()
			}
		})
	}
	m.held.Add(held - counted)
}
