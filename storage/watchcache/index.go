package watchcache

import (
	"slices"
	"sync"
)

const (
	// selective is how many times more items there must be than keys of a term for
	// the keys to be worth looking up.
	selective = 8
	// fewStale is how many keys that need no look-up an index may hold in any case.
	fewStale = 1024
	// followPiece is how many events an index takes over at a time.
	followPiece = 1024
)

// Index finds the items of a bucket that have a term, such as the value of one label.
// It follows the bucket's events when it is asked, and costs nothing until then. Keys
// that once had a term stay with it until there are too many of these, so that what is
// found is a superset for each state since the index was built.
//
//	asked --built, and the history reaches back?--> take events over --> answer
//	      --else, or grown, or many keys are stale--> build --> answer
//
// It is safe for concurrent use.
type Index[T any] struct {
	bucket *Bucket[T]
	term   func(T) (term string, has bool, err error)

	// mu guards what follows.
	mu     sync.Mutex
	cursor *Cursor[T]
	base   int64 // what is found holds for states from this revision on
	size   int   // items when it was built
	stale  int   // keys that no longer have their term
	terms  map[string]*posting
	untold posting // items whose term cannot be told
	events []Event[T]
}

// posting are the keys of a term, unless they were too many.
type posting struct {
	keys     []string
	unsorted bool
	common   bool
}

// NewIndex makes an index of a bucket by what term says of its items, which must
// always say the same of one. An item of which it can say nothing is found with every
// term.
func NewIndex[T any](b *Bucket[T], term func(T) (term string, has bool, err error)) *Index[T] {
	return &Index[T]{bucket: b, term: term}
}

// Find returns keys in their order, which are shared and must not be changed. All
// items of s that have one of the terms are among them. ok is false where that is not
// known, or where there are so many that visiting all items is as good.
func (x *Index[T]) Find(s Snapshot[T], terms ...string) (keys []string, ok bool) {
	keys, mixed, ok := x.find(s, terms)
	if mixed {
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	return keys, ok
}

// find is Find; mixed tells that the keys are the caller's, of several terms, and in no
// order: to bring them into one takes its time, in which others may ask.
func (x *Index[T]) find(s Snapshot[T], terms []string) (keys []string, mixed, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.covers(s) {
		return nil, false, false
	}
	var found []*posting
	n := 0
	note := func(p *posting) {
		if len(p.keys) > 0 {
			found, n = append(found, p), n+len(p.keys)
		}
	}
	note(&x.untold)
	for _, term := range terms {
		if p := x.terms[term]; p != nil {
			if p.common {
				return nil, false, false
			}
			note(p)
		}
	}
	switch {
	case n > s.Len()/selective:
		return nil, false, false
	case len(found) == 0:
		return nil, false, true
	case len(found) == 1:
		return found[0].sorted(), false, true
	}
	keys = make([]string, 0, n)
	for _, p := range found {
		keys = append(keys, p.keys...)
	}
	return keys, true, true
}

// covers brings the index up to date, and tells whether it is of the state s.
func (x *Index[T]) covers(s Snapshot[T]) bool {
	if x.cursor == nil || x.follow() != nil || x.stale > fewStale+x.size/2 || s.Len() > fewStale+2*x.size {
		if x.build() != nil {
			x.cursor = nil
			return false
		}
	}
	return x.base <= s.rev && s.rev <= x.cursor.Revision()
}

// build makes the index of the present state.
func (x *Index[T]) build() (err error) {
	s := x.bucket.Snapshot()
	x.base, x.size, x.stale = s.rev, s.Len(), 0
	x.terms, x.untold = map[string]*posting{}, posting{}
	if x.cursor, err = x.bucket.Watch(s.rev); err != nil {
		return err
	}
	s.root.ascend("", "", func(it *Item[T]) bool {
		x.add(it.Key, it.Value)
		return true
	})
	for _, p := range x.terms {
		if len(p.keys) > x.size/selective {
			*p = posting{common: true}
		}
	}
	return x.follow()
}

// follow takes over what has happened.
func (x *Index[T]) follow() (err error) {
	for {
		x.events, err = x.cursor.AppendNext(x.events[:0], followPiece)
		for _, ev := range x.events {
			x.take(ev)
		}
		n := len(x.events)
		clear(x.events)
		if err != nil || n < followPiece {
			return err
		}
	}
}

func (x *Index[T]) take(ev Event[T]) {
	if ev.HasPrev {
		was, had, err := x.term(ev.Prev)
		if ev.Type != Deleted {
			is, has, untold := x.term(ev.Item.Value)
			if was == is && had == has && err == nil && untold == nil {
				return
			}
		}
		if had || err != nil {
			x.stale++
		}
	}
	if ev.Type != Deleted {
		x.add(ev.Item.Key, ev.Item.Value)
	}
}

func (x *Index[T]) add(key string, value T) {
	term, has, err := x.term(value)
	p := &x.untold
	switch {
	case err != nil:
	case !has:
		return
	default:
		if p = x.terms[term]; p == nil {
			p = &posting{}
			x.terms[term] = p
		}
	}
	p.add(key)
}

func (p *posting) add(key string) {
	if p.common {
		return
	}
	p.unsorted = p.unsorted || len(p.keys) > 0 && p.keys[len(p.keys)-1] >= key
	p.keys = append(p.keys, key)
}

// sorted returns the keys in their order, each once. Who has them already keeps what
// they were.
func (p *posting) sorted() []string {
	if p.unsorted {
		p.keys = slices.Clone(p.keys)
		slices.Sort(p.keys)
		p.keys, p.unsorted = slices.Compact(p.keys), false
	}
	return p.keys
}
