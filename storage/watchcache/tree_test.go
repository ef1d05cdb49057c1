package watchcache

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// model is the plain map that a tree must agree with.
type model map[string]int64

func (m model) keys() []string { return slices.Sorted(maps.Keys(m)) }

// checkNth counts items between keys, and takes each by its place.
func (m model) checkNth(t *testing.T, s Snapshot[int]) {
	t.Helper()
	keys := m.keys()
	for _, x := range [][2]string{{"", ""}, {"ns1/", "ns10"}, {"ns3/1", ""}, {"z", ""}} {
		var before, want int
		for _, k := range keys {
			if k < x[0] {
				before++
			} else if x[1] == "" || k < x[1] {
				want++
			}
		}
		if b, n := s.Between(x[0], x[1]); b != before || n != want {
			t.Fatalf("from %q to %q: %d after %d, want %d after %d", x[0], x[1], n, b, want, before)
		}
	}
	for i, k := range keys {
		if got := s.Nth(i).Key; got != k {
			t.Fatalf("item %d is %q, want %q", i, got, k)
		}
	}
}

// check compares a tree with the model in every way it can be read.
func (m model) check(t *testing.T, root *node[int]) {
	t.Helper()
	s := Snapshot[int]{root: root}
	keys := m.keys()
	if s.Len() != len(keys) {
		t.Fatalf("len %d, want %d", s.Len(), len(keys))
	}
	var got []string
	s.Ascend("", "", func(it Item[int]) bool {
		if it.Revision != m[it.Key] {
			t.Fatalf("%s is at %d, want %d", it.Key, it.Revision, m[it.Key])
		}
		got = append(got, it.Key)
		return true
	})
	if !slices.Equal(got, keys) {
		t.Fatalf("keys differ: got %d, want %d", len(got), len(keys))
	}
	m.checkNth(t, s)
	for _, prefix := range []string{"", "ns1/", "ns3/1", "ns9", "a", "z", "\xff"} {
		for _, after := range []string{"", "ns1/15", "ns3/1", "zz"} {
			var want []string
			for _, k := range keys {
				if strings.HasPrefix(k, prefix) && k > after {
					want = append(want, k)
				}
			}
			var got []string
			s.Ascend(prefix, after, func(it Item[int]) bool { got = append(got, it.Key); return true })
			if !slices.Equal(got, want) {
				t.Fatalf("ascend %q after %q: got %d keys, want %d", prefix, after, len(got), len(want))
			}
			if n := s.CountAfter(prefix, after); n != len(want) {
				t.Fatalf("count %q after %q: got %d, want %d", prefix, after, n, len(want))
			}
		}
	}
}

func checkShape(t *testing.T, n *node[int], top bool) int {
	t.Helper()
	if n == nil {
		return 0
	}
	if n.isLeaf() {
		if len(n.items) == 0 || len(n.items) > maxLeaf || n.size != len(n.items) {
			t.Fatalf("leaf with %d items says %d", len(n.items), n.size)
		}
		if !slices.EqualFunc(n.keys, n.items, func(key string, it *Item[int]) bool { return key == it.Key }) {
			t.Fatalf("leaf of %d items has the keys %q", len(n.items), n.keys)
		}
		return 1
	}
	if len(n.kids) > maxKids || len(n.kids) < 1 || (top && len(n.kids) < 2) {
		t.Fatalf("inner node with %d kids", len(n.kids))
	}
	size, height := 0, 0
	for i, k := range n.kids {
		h := checkShape(t, k, false)
		if i > 0 && h != height {
			t.Fatalf("kids of height %d and %d", height, h)
		}
		height = h
		size += k.size
		if n.keys[i] != k.keys[0] {
			t.Fatalf("key %q for a kid that starts at %q", n.keys[i], k.keys[0])
		}
	}
	if size != n.size {
		t.Fatalf("size %d, kids have %d", n.size, size)
	}
	return height + 1
}

func TestTreeAgreesWithMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	type version struct {
		root *node[int]
		want model
	}
	var kept []version
	var root *node[int]
	want := model{}
	for i := range 20_000 {
		key := fmt.Sprintf("ns%d/%d", rnd.IntN(10), rnd.IntN(400))
		// Grow at first, shrink at the end.
		if rnd.IntN(20_000) > i {
			root = root.with(&Item[int]{Key: key, Revision: int64(i)})
			want[key] = int64(i)
		} else {
			root = root.without(key)
			delete(want, key)
		}
		if it := root.get(key); (it != nil) != (want[key] != 0) && i > 0 {
			t.Fatalf("step %d: %s present=%v", i, key, it != nil)
		}
		if i%997 == 0 {
			kept = append(kept, version{root, maps.Clone(want)})
		}
	}
	for _, k := range want.keys() {
		root = root.without(k)
	}
	if root != nil {
		t.Fatalf("%d items are left in an emptied tree", root.len())
	}
	// No earlier version was touched by what came after it.
	for _, v := range kept {
		checkShape(t, v.root, true)
		v.want.check(t, v.root)
	}
}

func TestBuild(t *testing.T) {
	for _, n := range []int{0, 1, 47, 48, 49, 1000, 1153, 40_000} {
		want := model{}
		var items []*Item[int]
		for i := range n {
			it := &Item[int]{Key: fmt.Sprintf("ns%d/%06d", i*10/max(n, 1), i), Revision: int64(i + 1)}
			items = append(items, it)
			want[it.Key] = it.Revision
		}
		root := build(items)
		checkShape(t, root, true)
		want.check(t, root)
	}
}

// TestNodesHoldWhatTheyMay: full nodes are not split, and thin ones begin just
// below a quarter.
func TestNodesHoldWhatTheyMay(t *testing.T) {
	items := func(n int) []*Item[int] {
		out := make([]*Item[int], n)
		for i := range out {
			out[i] = &Item[int]{Key: fmt.Sprintf("k%05d", i)}
		}
		return out
	}
	kids := func(n int) []*node[int] {
		out := make([]*node[int], n)
		for i := range out {
			out[i] = leaf(items(n)[i : i+1])
		}
		return out
	}
	if a, b := splitLeaf(items(maxLeaf)); b != nil || len(a.items) != maxLeaf {
		t.Error("a full leaf is split")
	}
	if a, b := splitLeaf(items(maxLeaf + 1)); b == nil || len(a.items)+len(b.items) != maxLeaf+1 {
		t.Error("a leaf above its bound is not split")
	}
	if a, b := splitInner(kids(maxKids)); b != nil || len(a.kids) != maxKids {
		t.Error("a full node is split")
	}
	if a, b := splitInner(kids(maxKids + 1)); b == nil || len(a.kids)+len(b.kids) != maxKids+1 {
		t.Error("a node above its bound is not split")
	}
	if leaf(items(minLeaf)).thin() || !leaf(items(minLeaf-1)).thin() || inner(kids(minKids)).thin() || !inner(kids(minKids-1)).thin() {
		t.Error("nodes are thin from a quarter on")
	}
}

// TestTreeGrowsDownwards: each new key is the smallest.
func TestTreeGrowsDownwards(t *testing.T) {
	var root *node[int]
	want := model{}
	for i := 9999; i > 0; i-- {
		key := fmt.Sprintf("ns1/%05d", i)
		root = root.with(&Item[int]{Key: key, Revision: int64(i)})
		want[key] = int64(i)
		if i%499 == 0 {
			checkShape(t, root, true)
			want.check(t, root)
		}
	}
}
