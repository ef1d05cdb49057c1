package watchcache

// Changed calls fn, in key order, for every key whose item is not that of the snapshot
// before; was or is is nil where there is none. It looks only at leaves that the two do
// not share, which are few where few changes lie between them.
func (s Snapshot[T]) Changed(before Snapshot[T], fn func(was, is *Item[T])) {
	old, now := unshared(before.root, s.root), unshared(s.root, before.root)
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Key < now[0].Key:
			fn(old[0], nil)
			old = old[1:]
		case len(old) == 0 || now[0].Key < old[0].Key:
			fn(nil, now[0])
			now = now[1:]
		default:
			if old[0] != now[0] {
				fn(old[0], now[0])
			}
			old, now = old[1:], now[1:]
		}
	}
}

// unshared returns the items of n, in key order, that are in no leaf of other.
func unshared[T any](n, other *node[T]) (out []*Item[T]) {
	if n == other {
		return nil
	}
	shared := map[*node[T]]bool{}
	other.leaves(func(l *node[T]) { shared[l] = true })
	n.leaves(func(l *node[T]) {
		if !shared[l] {
			out = append(out, l.items...)
		}
	})
	return out
}

// leaves calls fn for each leaf, in key order.
func (n *node[T]) leaves(fn func(*node[T])) {
	switch {
	case n == nil:
	case n.isLeaf():
		fn(n)
	default:
		for _, kid := range n.kids {
			kid.leaves(fn)
		}
	}
}
