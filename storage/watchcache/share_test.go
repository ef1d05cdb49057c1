package watchcache

import (
	"fmt"
	"strings"
	"testing"
)

const shareOfTests = 1 << 20

// shared is a cache in which a bucket's events may hold a megabyte, or half of what is
// present in it.
func shared() *fed[string] {
	o := sized()
	o.HistoryBytes = sharesOfAll * shareOfTests
	return feed(o)
}

// rewrite changes n times one of so many objects of 100 KB.
func (f *fed[T]) rewrite(bucket string, objects, n int) {
	for i := range n {
		f.do(put(fmt.Sprintf("%s/%d", bucket, i%objects), strings.Repeat("x", 100_000)))
	}
}

// A kind of large objects that are written all the time has its share of the past, and
// leaves others theirs.
func TestHistoryIsShared_WATCH05(t *testing.T) {
	const chunk = smallChunk*2 + 100_000 + eventBytes
	for objects, share := range map[int]int64{5: shareOfTests, 60: 60 * 100_000 / 2} {
		f := shared()
		f.do(put("g/slim/a", "1"))
		old := watch(t, f.Bucket("g/slim"), f.at)
		f.do(put("g/slim/a", "2"))
		f.rewrite("g/fat", objects, 500)
		fat := f.Bucket("g/fat")
		if fat.bytes > share || fat.bytes < share-chunk {
			t.Errorf("of %d objects: the past holds %d bytes, may hold %d", objects, fat.bytes, share)
		}
		behind, err := fat.Watch(f.at - 5)
		if err != nil {
			t.Fatalf("of %d objects: who is five behind: %v", objects, err)
		}
		if events, err := behind.TryNext(10); err != nil || len(events) != 5 {
			t.Errorf("of %d objects: who is five behind gets %d events, %v", objects, len(events), err)
		}
		if events, err := old.TryNext(5); err != nil || len(events) != 1 {
			t.Errorf("of %d objects: who watches others got %v, %v", objects, events, err)
		}
		f.wantHeld(t)
	}
}

// Where all kinds together hold too much, those that hold most give way.
func TestThoseThatHoldMostGiveWay_WATCH05(t *testing.T) {
	f := shared()
	f.do(put("g/slim/a", "1"))
	old := watch(t, f.Bucket("g/slim"), f.at)
	f.do(put("g/slim/a", "2"))
	f.rewrite("g/few", 1, 5)
	for i := range 2 * sharesOfAll {
		f.rewrite(fmt.Sprintf("g/fat%d", i), 1, 20)
	}
	f.pass(0)
	if held := f.history.held.Load(); held > f.o.HistoryBytes || held < f.o.HistoryBytes/2 {
		t.Errorf("%d bytes are held, %d may be", held, f.o.HistoryBytes)
	}
	if n := f.Bucket("g/few").total; n != 5 {
		t.Errorf("%d events are left of 5 that hold less than others", n)
	}
	if events, err := old.TryNext(5); err != nil || len(events) != 1 {
		t.Errorf("who watches others got %v, %v", events, err)
	}
	f.wantHeld(t)
}
