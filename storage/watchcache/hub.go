package watchcache

import "sync"

// hubPiece is how many events a hub takes over at a time.
const hubPiece = 256

// Hub follows a bucket for watchers that are interested in few of its events, and
// wakes those that an event may interest. An event has terms, such as its namespace
// or a label, and a [Follower] says which of them it is interested in.
//
// A follower that was not woken was passed by: its cursor moves without looking at
// what was not for it, so that it neither falls behind nor costs anything.
type Hub[T any, K comparable] struct {
	bucket *Bucket[T]
	// terms tells the terms of an event; false when they are not known.
	terms func(ev *Event[T], visit func(K)) bool

	// mu guards what follows, and what followers share with their hub.
	mu        sync.Mutex
	followers map[K][]place[T, K]
	count     int
	stop      chan struct{} // of the goroutine that runs while there are followers
	cursor    *Cursor[T]    // all events before it were told to followers
}

// Follower is a cursor that is woken by its hub. One goroutine uses it at a time. It
// has to be closed.
type Follower[T any, K comparable] struct {
	*Cursor[T]
	hub  *Hub[T, K]
	wake chan struct{} // holds a value when there is something to look at
	// What follows is guarded by the hub's mu. first is the first event that may be
	// of interest, if any is; lost tells that the hub cannot say any more which were.
	terms []held[K]
	first int64
	any   bool
	lost  bool
}

// place is one of the places among the followers of a term: that of a follower, by the
// term of that number.
type place[T any, K comparable] struct {
	of   *Follower[T, K]
	term int
}

// held is a term of a follower, and where among the term's followers that is: who closes
// is found without looking at the others.
type held[K comparable] struct {
	term K
	at   int
}

// NewHub makes a hub of a bucket. terms tells the terms of an event, or that they are
// not known, which everybody is woken for.
func NewHub[T any, K comparable](b *Bucket[T], terms func(ev *Event[T], visit func(K)) bool) *Hub[T, K] {
	return &Hub[T, K]{bucket: b, terms: terms, followers: map[K][]place[T, K]{}}
}

// Follow lets a cursor of the hub's bucket follow the events that have one of the
// terms; of others it may or may not be told.
func (h *Hub[T, K]) Follow(c *Cursor[T], terms ...K) *Follower[T, K] {
	f := &Follower[T, K]{Cursor: c, hub: h, wake: make(chan struct{}, 1), terms: make([]held[K], len(terms))}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count++; h.count == 1 {
		h.begin()
		h.stop = make(chan struct{})
		go h.run(h.stop)
	}
	for i, k := range terms {
		f.terms[i] = held[K]{k, len(h.followers[k])}
		h.followers[k] = append(h.followers[k], place[T, K]{f, i})
	}
	f.tell(c.seq) // what came before nobody has looked at
	return f
}

// Close ends the following.
func (f *Follower[T, K]) Close() {
	h := f.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range f.terms {
		h.leave(f.terms[i])
	}
	f.terms = nil
	if h.count--; h.count == 0 {
		close(h.stop)
	}
}

// leave gives a place up, which the last one takes.
func (h *Hub[T, K]) leave(p held[K]) {
	all := h.followers[p.term]
	last := len(all) - 1
	all[p.at] = all[last]
	all[p.at].of.terms[all[p.at].term].at = p.at
	all[last] = place[T, K]{}
	if h.followers[p.term] = all[:last]; last == 0 {
		delete(h.followers, p.term)
	}
}

// begin has the hub go on at what followers cannot see yet.
func (h *Hub[T, K]) begin() {
	reached := h.bucket.progress.rev.Load() // before the ring, as for snapshots
	h.cursor = &Cursor[T]{bucket: h.bucket, seq: h.bucket.ring.Load().after(reached)}
}

func (h *Hub[T, K]) run(stop chan struct{}) {
	var events []Event[T]
	for {
		h.mu.Lock()
		if h.stop != stop { // there are other followers by now, and they have another goroutine
			h.mu.Unlock()
			return
		}
		ready := h.cursor.Wait()
		var err error
		if events, err = h.cursor.AppendNext(events[:0], hubPiece); err != nil {
			h.begin()
			h.each((*Follower[T, K]).lose)
		}
		first := h.cursor.seq - int64(len(events))
		for i := range events {
			h.dispatch(&events[i], first+int64(i))
		}
		clear(events)
		h.mu.Unlock()
		select {
		case <-ready:
		case <-stop:
			return
		}
	}
}

// dispatch tells those who are interested in an event.
func (h *Hub[T, K]) dispatch(ev *Event[T], seq int64) {
	known := h.terms(ev, func(k K) {
		for _, p := range h.followers[k] {
			p.of.tell(seq)
		}
	})
	if !known {
		h.each(func(f *Follower[T, K]) { f.tell(seq) })
	}
}

func (h *Hub[T, K]) each(fn func(*Follower[T, K])) {
	for _, all := range h.followers {
		for _, p := range all {
			fn(p.of)
		}
	}
}

// tell wakes the follower for an event. Whoever calls it holds the hub's mu.
func (f *Follower[T, K]) tell(seq int64) {
	if !f.any {
		f.first, f.any = seq, true
	}
	select {
	case f.wake <- struct{}{}:
	default: // it is about to look
	}
}

// lose leaves the follower where it is, to find out what became of its place.
func (f *Follower[T, K]) lose() {
	f.lost = true
	f.tell(f.first)
}

// Wait returns a channel that gives a value once AppendNext has something to say,
// which may be an error.
func (f *Follower[T, K]) Wait() <-chan struct{} { return f.wake }

// AppendNext is [Cursor.AppendNext], without most of what is of no interest.
func (f *Follower[T, K]) AppendNext(dst []Event[T], max int) ([]Event[T], error) {
	f.pass()
	dst, err := f.Cursor.AppendNext(dst, max)
	f.settle(err)
	return dst, err
}

// settle notes how far the follower has read.
func (f *Follower[T, K]) settle(err error) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	// What it has not read, and was told to others already, may be of interest: nobody
	// will tell of it again.
	f.any = false
	if f.seq < f.hub.cursor.seq {
		f.tell(f.seq)
	}
	f.lost = f.lost && (f.any || err != nil)
}

// Revision is [Cursor.Revision].
func (f *Follower[T, K]) Revision() int64 {
	f.pass()
	return f.Cursor.Revision()
}

// Expired is [Cursor.Expired].
func (f *Follower[T, K]) Expired() bool {
	f.pass()
	return f.Cursor.Expired()
}

// pass moves over what is of no interest.
func (f *Follower[T, K]) pass() {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	switch {
	case f.lost:
	case f.any:
		f.seq = max(f.seq, f.first)
	default:
		f.seq = max(f.seq, f.hub.cursor.seq)
	}
}
