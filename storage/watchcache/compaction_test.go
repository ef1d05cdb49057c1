package watchcache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// TestCompactionIsFollowed: what the store no longer serves, the cache does
// not either, whatever goes wrong in between.
func TestCompactionIsFollowed_RV08(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := storagetest.NewMemory()
		var failures []error
		o := options()
		o.OnError = func(err error) { failures = append(failures, err) }
		c := New(m, o)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); c.followCompaction(ctx) }()
		for i := range 5 {
			m.Apply(put("g/pods/a", string(rune('0'+i))))
		}
		compact := func(rev int64) {
			t.Helper()
			if err := m.Compact(ctx, rev); err != nil {
				t.Fatal(err)
			}
		}
		compact(3)
		time.Sleep(tick - 1)
		synctest.Wait()
		if got := c.compacted.Load(); got != 0 {
			t.Errorf("looked too soon: %d", got)
		}
		time.Sleep(1 * time.Nanosecond)
		synctest.Wait()
		if got := c.compacted.Load(); got != 3 || len(failures) != 0 {
			t.Errorf("compacted at %d, failures %v", got, failures)
		}
		m.Down(errors.New("away"))
		compact(4)
		time.Sleep(tick)
		synctest.Wait()
		if got := c.compacted.Load(); got != 3 || len(failures) != 1 {
			t.Errorf("while the store is away: compacted at %d, failures %v", got, failures)
		}
		m.Down(nil)
		time.Sleep(tick)
		synctest.Wait()
		if got := c.compacted.Load(); got != 4 || len(failures) != 1 {
			t.Errorf("once it is back: compacted at %d, failures %v", got, failures)
		}
		cancel()
		<-done
		if len(failures) != 1 {
			t.Errorf("its own end is a failure: %v", failures)
		}
	})
}
