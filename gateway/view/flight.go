package view

import (
	"context"
	"errors"
	"sync"
)

// flight is a derivation under way, of the views k of one or more entries. Each
// view is derived by one caller at a time; the others wait for it, so that a
// conversion runs once for all of them.
type flight struct {
	Key
	size int // how many entries
	done chan struct{}
	err  error // set before done is closed

	mu sync.Mutex
	// waiting is how many want what it derives. When the last has left it is
	// abandoned.
	waiting   int
	abandoned bool
	// abandon ends conversions; nil before there are any.
	abandon context.CancelFunc
}

// join lets one more wait for f, who leaves in the end; false if f was abandoned.
func (f *flight) join() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.abandoned {
		f.waiting++
	}
	return !f.abandoned
}

func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.abandoned = true
		if f.abandon != nil {
			f.abandon()
		}
	}
}

// converting is a context for conversions in f: a client that leaves must not
// fail those who wait for the same view, and what nobody waits for need not be
// made. Each call of the converter has a time limit of its own.
func (f *flight) converting(ctx context.Context) (shared context.Context, end func()) {
	shared, abandon := context.WithCancel(context.WithoutCancel(ctx))
	f.mu.Lock()
	f.abandon = abandon
	f.mu.Unlock()
	stop := context.AfterFunc(ctx, f.leave)
	return shared, func() {
		stop()
		abandon()
	}
}

// flightNode is a list of an entry's flights, no two of the same view. It is
// replaced, never changed.
type flightNode struct {
	*flight
	next *flightNode
}

// board adds f to the flights of e, unless there is one of the same view
// already, and returns the one that is there then.
func (e *Entry) board(f *flight) (there *flight, added bool) {
	for {
		head := e.flights.Load()
		for n := head; n != nil; n = n.next {
			if n.Key == f.Key {
				return n.flight, false
			}
		}
		if e.flights.CompareAndSwap(head, &flightNode{f, head}) {
			return f, true
		}
	}
}

// land removes f from the flights of e.
func (e *Entry) land(f *flight) {
	for {
		head := e.flights.Load()
		var kept *flightNode
		for n := head; n != nil; n = n.next {
			if n.flight != f {
				kept = &flightNode{n.flight, kept}
			}
		}
		if e.flights.CompareAndSwap(head, kept) {
			return
		}
	}
}

// maxWaits is how often one caller waits for others' derivations that fail,
// before it derives on its own.
const maxWaits = 2

// derive makes the views k of jobs.
func (r *Renderer) derive(ctx context.Context, jobs []job, k Key) error {
	left := make([]int, len(jobs))
	for i := range left {
		left[i] = i
	}
	for waits := 0; len(left) > 0; waits++ {
		f := &flight{Key: k, done: make(chan struct{}), waiting: 1}
		mine, others, joined := claim(jobs, left, f, waits >= maxWaits)
		if err := r.fly(ctx, f, jobs, mine); err != nil {
			leaveAll(joined)
			return err
		}
		if !await(ctx, joined) {
			return ErrTimeout()
		}
		// An error counts for all who asked for no less. It may be about
		// another object than ours otherwise.
		for g, n := range others {
			if g.err != nil && n == g.size {
				return g.err
			}
		}
		left = unfinished(jobs, left, k)
	}
	return nil
}

// await waits for flights that were joined, and leaves them; false if ctx ends
// first.
func await(ctx context.Context, joined []*flight) bool {
	for n, g := range joined {
		select {
		case <-g.done:
			g.leave()
		case <-ctx.Done():
			leaveAll(joined[n:])
			return false
		}
	}
	return true
}

func leaveAll(joined []*flight) {
	for _, g := range joined {
		g.leave()
	}
}

// claim sorts the jobs that are left: those that are remembered by now are
// done, mine are the caller's to derive in f, and the rest is in the flights that
// were joined, each with as many as others says. alone claims what others have.
func claim(jobs []job, left []int, f *flight, alone bool) (mine []int, others map[*flight]int, joined []*flight) {
	for _, i := range left {
		e := jobs[i].entry
		g, added := e.board(f)
		switch {
		case added || alone && g != f:
			mine = append(mine, i)
		case g == f: // the same entry twice
		case others[g] == 0 && !g.join():
			mine = append(mine, i)
		default:
			if others == nil {
				others = map[*flight]int{}
			}
			if others[g]++; others[g] == 1 {
				joined = append(joined, g)
			}
		}
	}
	f.size = len(mine)
	return mine, others, joined
}

// unfinished are those of left that have no outcome and none is remembered.
func unfinished(jobs []job, left []int, k Key) []int {
	still := left[:0]
	for _, i := range left {
		if jobs[i].made == nil {
			jobs[i].made = jobs[i].entry.view(k)
		}
		if jobs[i].made == nil {
			still = append(still, i)
		}
	}
	return still
}

var errDerivation = errors.New("the derivation was broken off")

// fly derives the claimed jobs and tells who waits for them.
func (r *Renderer) fly(ctx context.Context, f *flight, jobs []job, mine []int) error {
	f.err = errDerivation // for those who wait, if a converter panics
	defer func() {
		for _, i := range mine {
			jobs[i].entry.land(f)
		}
		close(f.done)
	}()
	// Between the look at the views and the claim somebody may have finished.
	due := make([]int, 0, len(mine))
	for _, i := range mine {
		if jobs[i].made = jobs[i].entry.view(f.Key); jobs[i].made == nil {
			due = append(due, i)
		}
	}
	f.err = r.deriveAll(ctx, f, jobs, due)
	return f.err
}
