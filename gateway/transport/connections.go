package transport

import (
	"sync"
	"time"
)

// connections are those that are served requests, or wait for one. Those of
// streams are not among them.
type connections struct {
	mu  sync.Mutex
	all map[*conn]struct{}
	// closing: no request is waited for any longer than until last.
	closing bool
	last    time.Time
}

const (
	// lookEvery is how often it is seen to requests that last.
	lookEvery = 100 * time.Millisecond
	// lastWait is how long a request that may be on its way is waited for when
	// the server stops.
	lastWait = 500 * time.Millisecond
)

func (s *connections) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[*conn]struct{}{}
	}
	s.all[c] = struct{}{}
	if s.closing {
		c.turn.expire(c, s.last)
	}
}

// leave takes c out, at its end or for a stream.
func (c *conn) leave() {
	if s := c.among; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.all, c)
	}
}

// close ends, in a moment, all that are not being served a request: the
// framework would let those that never sent one, or half of one, take their time.
func (s *connections) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing, s.last = true, time.Now().Add(lastWait)
	for c := range s.all {
		c.turn.expire(c, s.last)
	}
}

// watch sees, until done is closed, to requests that last: whether their clients
// are still there.
func (s *connections) watch(done <-chan struct{}) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			s.look()
		}
	}
}

func (s *connections) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.all {
		c.turn.look(c)
	}
}
