package view

import "time"

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
		kept = change(kept)
		if e.kept.CompareAndSwap(before, &kept) {
			return
		}
	}
}

// expire gives up what is kept for a while and was not asked for since a time. It
// returns how many bytes that were, and whether there is more to expire.
func (e *Entry) expire(since time.Time) (freed int, more bool) {
	if e.kept.Load() == nil {
		return 0, false
	}
	e.Keep(func(kept []Kept) (left []Kept) {
		freed, more = 0, false
		for _, k := range kept {
			asked, passing := k.Passing()
			if passing && asked.Before(since) {
				freed += k.Size()
				continue
			}
			more = more || passing
			left = append(left, k)
		}
		return left
	})
	return freed, more
}
