package watchcache

import (
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

// TestHalfAppliedRevision stops the writer between its steps: who reads then
// must neither get part of a revision nor miss its end. A follower that gets
// events before the revision they complete would wait for its revision until
// something else happens.
func TestHalfAppliedRevision_WATCH06(t *testing.T) {
	f := feed(options())
	b := f.Bucket("g/pods")
	before := f.do(put("g/pods/a", "1"))
	rev := before + 1
	cur := watch(t, b, before)
	waiting := cur.Wait()
	quiet := func(step string) {
		t.Helper()
		if events, err := cur.TryNext(5); len(events) != 0 || err != nil {
			t.Errorf("%s: got %v, %v", step, events, err)
		}
		if got := cur.Revision(); got != before {
			t.Errorf("%s: the cursor is at %d, want %d", step, got, before)
		}
		select {
		case <-cur.Wait():
			t.Errorf("%s: woken for nothing", step)
		default:
		}
	}
	for _, ev := range []storage.Event{put("g/pods/b", "2"), put("g/pods/c", "2")} {
		ev.Revision = rev
		f.writer.applyEvent(ev, nil, time.Now())
		quiet("appended")
	}
	b.publish(rev)
	quiet("published")
	f.progress.rev.Store(rev)
	b.wake.notify()
	select {
	case <-waiting:
	default:
		t.Error("not woken")
	}
	select {
	case <-cur.Wait():
	default:
		t.Error("nothing to wait for, and yet it waits")
	}
	if got := cur.Revision(); got != before {
		t.Errorf("before delivery the cursor is at %d, want %d", got, before)
	}
	if events, err := cur.TryNext(1); len(events) != 1 || err != nil || cur.Revision() != before {
		t.Errorf("half of the revision: %v, %v, the cursor is at %d", events, err, cur.Revision())
	}
	if events, err := cur.TryNext(5); len(events) != 1 || err != nil || cur.Revision() != rev {
		t.Errorf("the other half: %v, %v, the cursor is at %d", events, err, cur.Revision())
	}
}

// TestCursorFromTheFuture: a watch may begin at a revision to come, of which
// it wants what is later.
func TestCursorFromTheFuture(t *testing.T) {
	f := feed(options())
	b := f.Bucket("g/pods")
	f.do(put("g/pods/a", "1"))
	cur := watch(t, b, f.at+2)
	if got := cur.Revision(); got != f.at+2 {
		t.Errorf("at %d, want %d", got, f.at+2)
	}
	for range 2 {
		f.do(put("g/pods/a", "2"))
	}
	if got := cur.Revision(); got != f.at {
		t.Errorf("at %d before delivery, want %d", got, f.at)
	}
	rev := f.do(put("g/pods/a", "3"))
	events, err := cur.TryNext(5)
	if err != nil || len(events) != 1 || events[0].Item.Revision != rev || cur.Revision() != rev {
		t.Errorf("got %v, %v; at %d, want %d", events, err, cur.Revision(), rev)
	}
	f.writer.apply(storage.Batch{Revision: rev + 10}, f.now)
	if got := cur.Revision(); got != rev+10 {
		t.Errorf("at %d after progress, want %d", got, rev+10)
	}
}
