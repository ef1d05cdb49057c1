package watchcache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// What is between two snapshots is what comparing all their keys finds, in key order.
func TestChangedIsWhatComparingAllFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var before, root *node[int]
	rev := int64(0)
	for round := range 300 {
		changes := rnd.IntN(60)
		if round%10 == 0 {
			changes = 2000 // many leaves are split and joined
		}
		for range changes {
			rev++
			key := fmt.Sprintf("ns%d/%d", rnd.IntN(10), rnd.IntN(300))
			if rnd.IntN(300) > round {
				root = root.with(&Item[int]{Key: key, Revision: rev})
			} else {
				root = root.without(key)
			}
		}
		var got, want []string
		Snapshot[int]{root: root}.Changed(Snapshot[int]{root: before}, func(was, is *Item[int]) { got = append(got, fmt.Sprint(was, is)) })
		keys := map[string]bool{}
		for _, n := range []*node[int]{before, root} {
			n.ascend("", "", func(it *Item[int]) bool { keys[it.Key] = true; return true })
		}
		sorted := make([]string, 0, len(keys))
		for k := range keys {
			sorted = append(sorted, k)
		}
		slices.Sort(sorted)
		for _, k := range sorted {
			if was, is := before.get(k), root.get(k); was != is {
				want = append(want, fmt.Sprint(was, is))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d changes, want %d:\n%v\n%v", round, len(got), len(want), got, want)
		}
		before = root
	}
	var all int
	Snapshot[int]{root: root}.Changed(Snapshot[int]{}, func(was, is *Item[int]) { all++ })
	if all != root.len() {
		t.Errorf("%d items of %d are new to an empty snapshot", all, root.len())
	}
}
