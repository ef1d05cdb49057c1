package catalog

import (
	"context"
	"errors"
)

// flight is a derivation under way, of the views k of one or more entries. Each
// view is derived by one caller at a time; the others wait for it, so that a
// conversion runs once for all of them.
type flight struct {
	viewKey
	size int // how many entries
	done chan struct{}
	err  error // set before done is closed
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
			if n.viewKey == f.viewKey {
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
func (r *Resource) derive(ctx context.Context, jobs []job, k viewKey) error {
	left := make([]int, len(jobs))
	for i := range left {
		left[i] = i
	}
	for waits := 0; len(left) > 0; waits++ {
		f := &flight{viewKey: k, done: make(chan struct{})}
		mine, others, waiting := claim(jobs, left, f, waits >= maxWaits)
		if err := r.fly(ctx, f, jobs, mine); err != nil {
			return err
		}
		for _, g := range waiting {
			select {
			case <-g.done:
			case <-ctx.Done():
				return ErrTimeout()
			}
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

// claim sorts the jobs that are left: those that are remembered by now are
// done, mine are the caller's to derive in f, and the rest is in the flights
// waiting, each with as many as others says. alone claims what others have.
func claim(jobs []job, left []int, f *flight, alone bool) (mine []int, others map[*flight]int, waiting []*flight) {
	for _, i := range left {
		e := jobs[i].entry
		g, added := e.board(f)
		switch {
		case added || alone && g != f:
			mine = append(mine, i)
		case g == f: // the same entry twice
		default:
			if others == nil {
				others = map[*flight]int{}
			}
			if others[g]++; others[g] == 1 {
				waiting = append(waiting, g)
			}
		}
	}
	f.size = len(mine)
	return mine, others, waiting
}

// unfinished are those of left that have no outcome and none is remembered.
func unfinished(jobs []job, left []int, k viewKey) []int {
	still := left[:0]
	for _, i := range left {
		if jobs[i].json != nil {
			continue
		}
		if v := jobs[i].entry.view(k); v != nil {
			jobs[i].json, jobs[i].converted = v.data, v.converted
			continue
		}
		still = append(still, i)
	}
	return still
}

var errDerivation = errors.New("the derivation was broken off")

// fly derives the claimed jobs and tells who waits for them.
func (r *Resource) fly(ctx context.Context, f *flight, jobs []job, mine []int) error {
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
		if v := jobs[i].entry.view(f.viewKey); v != nil {
			jobs[i].json, jobs[i].converted = v.data, v.converted
		} else {
			due = append(due, i)
		}
	}
	// A client that leaves must not fail those who wait for the same view. Each
	// call of the converter has a time limit of its own.
	f.err = r.deriveAll(context.WithoutCancel(ctx), jobs, due, f.viewKey)
	return f.err
}
