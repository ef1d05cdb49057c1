package deadline

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const short, long = time.Second, time.Minute

// ends are what may happen to a timeout of d, below a parent of a minute.
var ends = map[string]struct {
	d     time.Duration
	after time.Duration            // how much of the time is over then
	then  func(cancel, end func()) // nil: nothing
	want  error
}{
	"nothing happens":                     {long, 0, nil, nil},
	"its time is over":                    {short, short, nil, context.DeadlineExceeded},
	"just before":                         {short, short - 1, nil, nil},
	"the parent's time is over":           {2 * long, long, nil, context.DeadlineExceeded},
	"the parent is cancelled":             {long, 0, func(cancel, _ func()) { cancel() }, context.Canceled},
	"it is ended":                         {long, 0, func(_, end func()) { end() }, context.Canceled},
	"its time is over before it is ended": {short, short + 1, func(_, end func()) { end() }, context.DeadlineExceeded},
}

// It is what context.WithTimeout is, whoever looks at it and when, and arms
// nothing for those who do not wait.
func TestItIsATimeout(t *testing.T) {
	type key struct{}
	for name, c := range ends {
		for _, waits := range []string{"never", "before", "after", "by a child"} {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithTimeout(context.WithValue(context.Background(), key{}, "v"), long)
				defer cancel()
				ctx, end := WithTimeout(parent, c.d)
				defer end()
				l := ctx.(*lazy)
				same, endSame := context.WithTimeout(parent, c.d) // what it has to be
				defer endSame()
				if at, ok := l.Deadline(); !ok || time.Until(at) != min(c.d, long) {
					t.Errorf("%s: it ends in %s", name, time.Until(at))
				}
				var child context.Context
				switch waits {
				case "before":
					l.Done()
				case "by a child":
					var stop context.CancelFunc
					child, stop = context.WithCancel(l)
					defer stop()
				}
				clock, stop := context.WithTimeout(t.Context(), c.after)
				defer stop()
				<-clock.Done()
				if c.then != nil {
					c.then(cancel, func() { end(); endSame() })
				}
				synctest.Wait()
				if waits == "after" {
					l.Done()
					synctest.Wait()
				}
				if err := l.Err(); !errors.Is(err, c.want) || err != same.Err() {
					t.Errorf("%s, waiting %s: %v, want %v", name, waits, err, c.want)
				}
				if child != nil && (child.Err() == nil) != (c.want == nil) {
					t.Errorf("%s: a child has %v", name, child.Err())
				}
				if (l.inner != nil) != (waits != "never") {
					t.Errorf("%s, waiting %s: armed %t", name, waits, l.inner != nil)
				}
				if l.Value(key{}) != "v" || l.Value(0) != nil {
					t.Errorf("%s, waiting %s: the value is %v", name, waits, l.Value(key{}))
				}
				select {
				case <-l.Done():
					if c.want == nil {
						t.Errorf("%s, waiting %s: done", name, waits)
					}
				default:
					if c.want != nil {
						t.Errorf("%s, waiting %s: not done", name, waits)
					}
				}
			})
		}
	}
}

// What is derived from it ends with it, and finds it by way of values.
func TestChildrenEndToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, cancel := WithTimeout(context.Background(), time.Hour)
		child, stop := context.WithCancel(context.WithValue(ctx, key{}, 1))
		defer stop()
		if child.Value(key{}) != 1 || ctx.Value(key{}) != nil {
			t.Error("values are mixed up")
		}
		done := make(chan struct{})
		defer context.AfterFunc(child, func() { close(done) })()
		cancel()
		<-done
		if !errors.Is(child.Err(), context.Canceled) {
			t.Error(child.Err())
		}
	})
}

func TestHammer(t *testing.T) {
	for range 200 {
		ctx, cancel := WithTimeout(context.Background(), time.Hour)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if i == 0 {
					cancel()
				}
				_ = ctx.Err()
				<-ctx.Done()
				if !errors.Is(ctx.Err(), context.Canceled) {
					t.Error(ctx.Err())
				}
			})
		}
		all.Wait()
	}
}
