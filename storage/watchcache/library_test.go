package watchcache

import (
	"fmt"
	"testing"

	"k8s.io/utils/third_party/forked/golang/btree"
)

// BenchmarkTree puts an item among 100,000, with all former trees as they were, and
// looks one up, beside the tree that kube-apiserver's cache has.
func BenchmarkTree(b *testing.B) {
	items := make([]*Item[int], 100_000)
	for i := range items {
		items[i] = &Item[int]{Key: fmt.Sprintf("default/object-%06d", i)}
	}
	theirs := btree.New(32, func(a, b *Item[int]) bool { return a.Key < b.Key })
	for _, it := range items {
		theirs.ReplaceOrInsert(it)
	}
	ours := build(items)
	b.Run("put/ours", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			ours = ours.with(items[i*7919%len(items)])
		}
	})
	b.Run("put/library", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			theirs = theirs.Clone()
			theirs.ReplaceOrInsert(items[i*7919%len(items)])
		}
	})
	b.Run("get/ours", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if ours.get(items[i*7919%len(items)].Key) == nil {
				b.Fatal("lost")
			}
		}
	})
	b.Run("get/library", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, ok := theirs.Get(&Item[int]{Key: items[i*7919%len(items)].Key}); !ok {
				b.Fatal("lost")
			}
		}
	})
}
