package watchcache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// The hammer: each bucket has a key "sum" that, in the same revision as any
// other change, is set to the number of changes so far. So every snapshot can
// be checked by itself, and every watcher can count.
const (
	hammerBuckets = 3
	hammerWrites  = 1500
)

func hammerWriter(m *storagetest.Memory, bucket int) {
	rnd := rand.New(rand.NewPCG(uint64(bucket), 7))
	live := map[string]bool{}
	for i := 1; i <= hammerWrites; i++ {
		key := fmt.Sprintf("g/b%d/k%d", bucket, rnd.IntN(100))
		change := put(key, strconv.Itoa(i))
		if live[key] && rnd.IntN(3) == 0 {
			change = del(key)
		}
		live[key] = !change.Deleted
		m.Apply(change, put(fmt.Sprintf("g/b%d/sum", bucket), strconv.Itoa(i)))
		if i%400 == 0 {
			m.Break()
		}
	}
}

// hammerWatcher follows a bucket from the snapshot it starts with and checks
// that applying the events gives what the cache shows.
func hammerWatcher(t *testing.T, ctx context.Context, b *Bucket[string]) {
	s := b.Snapshot()
	cur, err := b.Watch(s.Revision())
	if err != nil {
		t.Error(err)
		return
	}
	state := map[string]string{}
	s.Ascend("", "", func(it Item[string]) bool { state[it.Key] = it.Value; return true })
	last := s.Revision()
	for state["sum"] != strconv.Itoa(hammerWrites) {
		events, upTo, err := cur.Next(ctx, 1+rand.IntN(50))
		if err != nil {
			t.Errorf("%s at sum %s: %v", b.Name(), state["sum"], err)
			return
		}
		for _, ev := range events {
			prev, had := state[ev.Item.Key]
			if ev.Item.Revision < last || ev.HasPrev != had || (had && ev.Prev != prev) {
				t.Errorf("%s: %s after %d, here it was %q", b.Name(), describe(ev), last, prev)
				return
			}
			last = ev.Item.Revision
			if ev.Type == Deleted {
				delete(state, ev.Item.Key)
			} else {
				state[ev.Item.Key] = ev.Item.Value
			}
		}
		// The exact state at a revision that was fully delivered is ours.
		if past, ok := b.At(upTo); ok && upTo >= last {
			n := 0
			past.Ascend("", "", func(it Item[string]) bool {
				if state[it.Key] != it.Value {
					t.Errorf("%s at %d: %s=%s, the watcher has %s", b.Name(), upTo, it.Key, it.Value, state[it.Key])
				}
				n++
				return true
			})
			if n != len(state) {
				t.Errorf("%s at %d: %d items, the watcher has %d", b.Name(), upTo, n, len(state))
				return
			}
		}
	}
}

func hammerReader(t *testing.T, ctx context.Context, c *Cache[string], b *Bucket[string]) {
	var last int64
	for ctx.Err() == nil {
		rev, err := c.Fresh(ctx)
		if err != nil {
			if ctx.Err() == nil && storage.KindOf(err) != storage.Unavailable {
				t.Error(err)
			}
			continue
		}
		s := b.Snapshot()
		if s.Revision() < rev || s.Revision() < last {
			t.Errorf("snapshot at %d after %d, fresh at %d", s.Revision(), last, rev)
			return
		}
		last = s.Revision()
		sum, _ := s.Get("sum")
		top, n := 0, 0
		s.Ascend("", "", func(it Item[string]) bool {
			v, _ := strconv.Atoi(it.Value)
			top = max(top, v)
			n++
			return true
		})
		if want, _ := strconv.Atoi(sum.Value); top > want || n != s.Len() {
			t.Errorf("a snapshot mixes revisions: sum %d, but a value %d; %d items of %d", want, top, n, s.Len())
			return
		}
	}
}

func TestHammer(t *testing.T) {
	m := storagetest.NewMemory()
	c := run(t, m, options())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	readers, stop := context.WithCancel(ctx)
	defer stop()
	var writers, watchers, rest sync.WaitGroup
	for i := range hammerBuckets {
		b := c.Bucket(fmt.Sprintf("g/b%d", i))
		for range 4 {
			watchers.Go(func() { hammerWatcher(t, ctx, b) })
		}
		rest.Go(func() { hammerReader(t, readers, c, b) })
		writers.Go(func() { hammerWriter(m, i) })
	}
	writers.Wait()
	watchers.Wait()
	stop()
	rest.Wait()
}
