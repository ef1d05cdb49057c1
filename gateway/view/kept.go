package view

import (
	"slices"
	"time"
)

// KeepFor is how long what is kept for a while only is kept after somebody asked for
// it last.
const KeepFor = time.Minute

// Kept is something that others keep with an entry: it counts as derived of the
// entry, and is given up with what is.
type Kept interface {
	// Size is about how many bytes of memory it takes.
	Size() int
	// Passing reports whether it is kept for a while only, and when somebody asked
	// for it last.
	Passing() (asked time.Time, passing bool)
}

// Kept is what is kept with e. It must not be changed.
func (e *Entry) Kept() []Kept {
	if kept := e.kept.Load(); kept != nil {
		return *kept
	}
	return nil
}

// Keep replaces what is kept with e by what change makes of it, which it may have to
// do more than once, and in another slice. What is kept more has to be counted
// ([Memory.Grew]).
func (e *Entry) Keep(change func(kept []Kept) []Kept) {
	for {
		before := e.kept.Load()
		var kept []Kept
		if before != nil {
			kept = *before
		}
		var after *[]Kept
		if kept = change(kept); len(kept) > 0 {
			after = &kept
		}
		if e.kept.CompareAndSwap(before, after) {
			return
		}
	}
}

// expire gives up what is kept for a while and was not asked for since a time. It
// returns how many bytes that were, and whether there is more to expire.
func (e *Entry) expire(since time.Time) (freed int, more bool) {
	old := func(k Kept) bool {
		asked, passing := k.Passing()
		return passing && asked.Before(since)
	}
	if slices.ContainsFunc(e.Kept(), old) {
		e.Keep(func(kept []Kept) (left []Kept) {
			freed = 0
			for _, k := range kept {
				if old(k) {
					freed += k.Size()
				} else {
					left = append(left, k)
				}
			}
			return left
		})
	}
	for _, k := range e.Kept() {
		_, passing := k.Passing()
		more = more || passing
	}
	return freed, more
}
