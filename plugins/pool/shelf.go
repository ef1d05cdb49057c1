package pool

import (
	"container/list"
	"sync"
)

// Shelf is where the idle members of several pools are, and bounds what they
// take together: who was idle for longest goes first, whosever it is. A pool
// without one has its own, without a bound.
//
// One lock guards the shelf and the books of its pools, for the moment that a
// member changes hands.
type Shelf struct {
	most int64

	mu sync.Mutex
	// idle are the members that nobody uses, the last used at the end.
	idle list.List // of idler
	used int64
}

// NewShelf makes a shelf for members that take most together; 0 means any
// amount.
func NewShelf(most int64) *Shelf { return &Shelf{most: most} }

// Used is what the idle members take.
func (s *Shelf) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// idler is a member on a shelf.
type idler interface {
	// size is what it takes.
	size() int64
	// giveBackLocked takes it away from its pool; the shelf does not have it any
	// more. What is returned closes it, without a lock.
	giveBackLocked() (closes func())
}

// putLocked puts a member on the shelf.
func (s *Shelf) putLocked(i idler) *list.Element {
	s.used += i.size()
	return s.idle.PushBack(i)
}

// takeLocked takes a member off the shelf.
func (s *Shelf) takeLocked(e *list.Element) {
	s.used -= s.idle.Remove(e).(idler).size()
}

// overLocked takes off the shelf what is too much, after one was put there: who
// was idle for longest, or the new one if it would push out all others in vain.
func (s *Shelf) overLocked() (closes []func()) {
	newest := s.idle.Back()
	for s.most > 0 && s.used > s.most {
		e := s.idle.Front()
		if newest.Value.(idler).size() > s.most {
			e = newest
		}
		one := e.Value.(idler)
		s.takeLocked(e)
		closes = append(closes, one.giveBackLocked())
	}
	return closes
}
