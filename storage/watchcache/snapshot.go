package watchcache

// state is a bucket after one of its events.
type state[T any] struct {
	rev  int64 // of the bucket's last event, or of the load
	root *node[T]
}

// Snapshot is a bucket at one revision. It never changes and may be kept and
// read by any number of goroutines; it holds on to its items' memory.
type Snapshot[T any] struct {
	rev  int64
	root *node[T]
}

// Revision is the revision that the snapshot shows: every change up to it is
// in, none after it.
func (s Snapshot[T]) Revision() int64 { return s.rev }

// Same tells whether both snapshots hold the same items. Two that do may be
// told apart when something was changed and changed back.
func (s Snapshot[T]) Same(other Snapshot[T]) bool { return s.root == other.root }

// Len returns the number of items.
func (s Snapshot[T]) Len() int { return s.root.len() }

// Get returns the item with the key.
func (s Snapshot[T]) Get(key string) (Item[T], bool) {
	if it := s.root.get(key); it != nil {
		return *it, true
	}
	return Item[T]{}, false
}

// Ascend calls fn, in key order, for the items whose key starts with prefix
// and is greater than after, until fn returns false.
func (s Snapshot[T]) Ascend(prefix, after string, fn func(Item[T]) bool) {
	start := prefix
	if after >= prefix && after != "" {
		start = after + "\x00" // the key that follows after directly
	}
	s.root.ascend(start, prefixEnd(prefix), func(it *Item[T]) bool { return fn(*it) })
}

// Count returns the number of items whose key starts with prefix, without
// visiting them.
func (s Snapshot[T]) Count(prefix string) int {
	if prefix == "" {
		return s.Len()
	}
	end := prefixEnd(prefix)
	if end == "" {
		return s.Len() - s.root.rank(prefix)
	}
	return s.root.rank(end) - s.root.rank(prefix)
}

// Between returns how many items come before the key from, and how many there are from
// there up to, not including, the key to; "" is the end.
func (s Snapshot[T]) Between(from, to string) (before, items int) {
	before = s.root.rank(from)
	if to == "" {
		return before, s.Len() - before
	}
	return before, s.root.rank(to) - before
}

// Nth returns the item that so many come before, of which there is one.
func (s Snapshot[T]) Nth(before int) Item[T] { return *s.root.nth(before) }

// CountAfter returns the number of items that [Snapshot.Ascend] visits for the
// same arguments, without visiting them.
func (s Snapshot[T]) CountAfter(prefix, after string) int {
	n := s.Count(prefix)
	if after == "" || after < prefix {
		return n
	}
	skipped := s.root.rank(after+"\x00") - s.root.rank(prefix)
	return max(n-skipped, 0)
}

// prefixEnd returns the least key greater than all that start with prefix, ""
// when there is none.
func prefixEnd(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}
