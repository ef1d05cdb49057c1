package watchcache

import "slices"

const (
	// maxLeaf and maxKids bound what one change copies.
	maxLeaf = 64
	maxKids = 32
	// A node with less than a quarter is joined with its neighbour.
	minLeaf = maxLeaf / 4
	minKids = maxKids / 4
)

// node is an immutable B+ tree: a leaf with items in key order, or an inner
// node with kids of equal height. nil is the empty tree. A change copies the
// nodes on the way to the changed leaf and shares all others, so that every
// earlier root stays a complete, valid tree. A search looks at keys alone: those of
// items would be a miss of the processor's caches each.
type node[T any] struct {
	items []*Item[T]
	kids  []*node[T]
	keys  []string // keys[i] is that of items[i], or the smallest below kids[i]
	size  int      // items in the whole subtree
}

func leaf[T any](items []*Item[T]) *node[T] {
	n := &node[T]{items: items, keys: make([]string, len(items)), size: len(items)}
	for i, it := range items {
		n.keys[i] = it.Key
	}
	return n
}

func inner[T any](kids []*node[T]) *node[T] {
	n := &node[T]{kids: kids, keys: make([]string, len(kids))}
	for i, k := range kids {
		n.keys[i] = k.keys[0]
		n.size += k.size
	}
	return n
}

func (n *node[T]) isLeaf() bool { return n.kids == nil }

func (n *node[T]) len() int {
	if n == nil {
		return 0
	}
	return n.size
}

// at returns where key is, or belongs, in a leaf.
func (n *node[T]) at(key string) (int, bool) {
	return slices.BinarySearch(n.keys, key)
}

// kidFor returns the kid that key is, or belongs, below.
func (n *node[T]) kidFor(key string) int {
	i, found := slices.BinarySearch(n.keys, key)
	if found {
		return i
	}
	return max(i-1, 0)
}

func (n *node[T]) get(key string) *Item[T] {
	if n == nil {
		return nil
	}
	for !n.isLeaf() {
		n = n.kids[n.kidFor(key)]
	}
	if i, ok := n.at(key); ok {
		return n.items[i]
	}
	return nil
}

// with returns the tree with it put in, in place of one of the same key.
func (n *node[T]) with(it *Item[T]) *node[T] {
	if n == nil {
		return leaf([]*Item[T]{it})
	}
	a, b := n.put(it)
	if b == nil {
		return a
	}
	return inner([]*node[T]{a, b})
}

// put returns the node with it put in, as two nodes if one would be too large.
func (n *node[T]) put(it *Item[T]) (*node[T], *node[T]) {
	if n.isLeaf() {
		i, found := n.at(it.Key)
		if found {
			items := slices.Clone(n.items)
			items[i] = it
			return &node[T]{items: items, keys: n.keys, size: n.size}, nil
		}
		return splitLeaf(insertAt(n.items, i, it))
	}
	i := n.kidFor(it.Key)
	a, b := n.kids[i].put(it)
	if b == nil {
		c := &node[T]{kids: slices.Clone(n.kids), keys: n.keys, size: n.size - n.kids[i].size + a.size}
		c.kids[i] = a
		if first := a.keys[0]; first != n.keys[i] {
			c.keys = slices.Clone(n.keys)
			c.keys[i] = first
		}
		return c, nil
	}
	kids := insertAt(n.kids, i+1, b)
	kids[i] = a
	return splitInner(kids)
}

// insertAt returns a copy of s with v at i.
func insertAt[E any](s []E, i int, v E) []E {
	c := make([]E, len(s)+1)
	copy(c, s[:i])
	c[i] = v
	copy(c[i+1:], s[i:])
	return c
}

func splitLeaf[T any](items []*Item[T]) (*node[T], *node[T]) {
	if len(items) <= maxLeaf {
		return leaf(items), nil
	}
	m := len(items) / 2
	return leaf(slices.Clone(items[:m])), leaf(slices.Clone(items[m:]))
}

func splitInner[T any](kids []*node[T]) (*node[T], *node[T]) {
	if len(kids) <= maxKids {
		return inner(kids), nil
	}
	m := len(kids) / 2
	return inner(slices.Clone(kids[:m])), inner(slices.Clone(kids[m:]))
}

// without returns the tree with key taken out, which may be the same tree.
func (n *node[T]) without(key string) *node[T] {
	if n.get(key) == nil {
		return n
	}
	n = n.drop(key)
	for n != nil && !n.isLeaf() && len(n.kids) == 1 {
		n = n.kids[0]
	}
	return n
}

// drop returns the node with key, which is in it, taken out; nil when nothing
// remains.
func (n *node[T]) drop(key string) *node[T] {
	if n.isLeaf() {
		if len(n.items) == 1 {
			return nil
		}
		i, _ := n.at(key)
		return leaf(removeAt(n.items, i))
	}
	i := n.kidFor(key)
	kid := n.kids[i].drop(key)
	if kid == nil {
		if len(n.kids) == 1 {
			return nil
		}
		return inner(removeAt(n.kids, i))
	}
	kids := slices.Clone(n.kids)
	kids[i] = kid
	if kid.thin() && len(kids) > 1 {
		j := max(i-1, 0) // join kids j and j+1
		a, b := join(kids[j], kids[j+1])
		kids[j] = a
		if b == nil {
			kids = removeAt(kids, j+1)
		} else {
			kids[j+1] = b
		}
	}
	return inner(kids)
}

func removeAt[E any](s []E, i int) []E {
	c := make([]E, 0, len(s)-1)
	return append(append(c, s[:i]...), s[i+1:]...)
}

func (n *node[T]) thin() bool {
	if n.isLeaf() {
		return len(n.items) < minLeaf
	}
	return len(n.kids) < minKids
}

func join[T any](a, b *node[T]) (*node[T], *node[T]) {
	if a.isLeaf() {
		return splitLeaf(slices.Concat(a.items, b.items))
	}
	return splitInner(slices.Concat(a.kids, b.kids))
}

// rank returns how many keys are less than key.
func (n *node[T]) rank(key string) int {
	if n == nil {
		return 0
	}
	before := 0
	for !n.isLeaf() {
		i := n.kidFor(key)
		for _, k := range n.kids[:i] {
			before += k.size
		}
		n = n.kids[i]
	}
	i, _ := n.at(key)
	return before + i
}

// nth returns the item that so many keys are less than, of which there is one.
func (n *node[T]) nth(i int) *Item[T] {
	for !n.isLeaf() {
		for _, k := range n.kids {
			if i < k.size {
				n = k
				break
			}
			i -= k.size
		}
	}
	return n.items[i]
}

// ascend calls fn for the items from key on until fn returns false or end is reached,
// which "" never is, and reports whether it may go on after this node. Keys
// are compared only in the first and the last leaf.
func (n *node[T]) ascend(key, end string, fn func(*Item[T]) bool) bool {
	if n == nil {
		return true
	}
	if n.isLeaf() {
		i, last := 0, len(n.items)
		if key != "" {
			i, _ = n.at(key)
		}
		if end != "" && n.keys[last-1] >= end {
			last, _ = n.at(end)
		}
		for _, it := range n.items[i:max(i, last)] {
			if !fn(it) {
				return false
			}
		}
		return last == len(n.items)
	}
	first := n.kidFor(key)
	for i, kid := range n.kids[first:] {
		if i > 0 {
			key = "" // this kid begins after it
			if end != "" && n.keys[first+i] >= end {
				return false
			}
		}
		if !kid.ascend(key, end, fn) {
			return false
		}
	}
	return true
}

// build makes a tree of items that are in key order and all different.
func build[T any](items []*Item[T]) *node[T] {
	if len(items) == 0 {
		return nil
	}
	var level []*node[T]
	// Leaves start three quarters full, so that the next changes fit.
	for chunk := range slices.Chunk(items, maxLeaf*3/4) {
		level = append(level, leaf(slices.Clone(chunk)))
	}
	for len(level) > 1 {
		var up []*node[T]
		for kids := range slices.Chunk(level, maxKids*3/4) {
			up = append(up, inner(slices.Clone(kids)))
		}
		level = up
	}
	return level[0]
}
