package conversion

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A limit is what context.WithTimeout is, whoever looks at it and when, and
// arms nothing for those who do not wait.
func TestALimitIsATimeout(t *testing.T) {
	type key struct{}
	const short, long = time.Second, time.Minute
	for name, c := range map[string]struct {
		d     time.Duration
		after time.Duration             // how much of the time is over then
		then  func(cancel, end func())  // nil: nothing
		want  error
	}{
		"nothing happens":                     {long, 0, nil, nil},
		"its time is over":                    {short, short, nil, context.DeadlineExceeded},
		"just before":                         {short, short - 1, nil, nil},
		"the parent's time is over":           {2 * long, long, nil, context.DeadlineExceeded},
		"the parent is cancelled":             {long, 0, func(cancel, _ func()) { cancel() }, context.Canceled},
		"it is ended":                         {long, 0, func(_, end func()) { end() }, context.Canceled},
		"its time is over before it is ended": {short, short + 1, func(_, end func()) { end() }, context.DeadlineExceeded},
	} {
		for _, waits := range []string{"never", "before", "after", "by a child"} {
			synctest.Test(t, func(t *testing.T) {
				parent, cancel := context.WithTimeout(context.WithValue(context.Background(), key{}, "v"), long)
				defer cancel()
				l := withLimit(parent, c.d)
				defer l.end()
				same, end := context.WithTimeout(parent, c.d) // what it has to be
				defer end()
				clock, stop := context.WithTimeout(t.Context(), c.after)
				defer stop()
				if at, ok := l.Deadline(); !ok || time.Until(at) != min(c.d, long) {
					t.Errorf("%s: it ends in %s", name, time.Until(at))
				}
				var child context.Context
				switch waits {
				case "before":
					l.Done()
				case "by a child":
					var end context.CancelFunc
					child, end = context.WithCancel(l)
					defer end()
				}
				<-clock.Done()
				if c.then != nil {
					c.then(cancel, func() { l.end(); end() })
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
