package conversion_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/convtest"
)

// callFunc is a converter for tests that sees the context.
type callFunc func(ctx context.Context, desired string, objects [][]byte) ([][]byte, error)

func (f callFunc) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	return f(ctx, desired, objects)
}
func (callFunc) Epoch() uint64 { return 7 }

func tabs(n int) [][]byte {
	var out [][]byte
	for i := range n {
		out = append(out, convtest.Object(i, convtest.V1beta1))
	}
	return out
}

// number is which of the tabs a call of one object is about.
func number(objects [][]byte) (n int) {
	_, tail, _ := strings.Cut(string(objects[0]), `"name":"tab-`)
	if _, err := fmt.Sscanf(tail, "%d", &n); err != nil {
		panic(err)
	}
	return n
}

// handed collects what Each hands over.
type handed struct {
	mu    sync.Mutex
	first []int
}

func (h *handed) done(first int, _ [][]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.first = append(h.first, first)
}

func (h *handed) sorted() []int { slices.Sort(h.first); return h.first }

var noneOf = conversion.None{}.Convert

func TestWhatWasConvertedBeforeAFailureIsKept_CRD18(t *testing.T) {
	var calls atomic.Int64
	broken := true
	c := conversion.Batched(callFunc(func(ctx context.Context, to string, o [][]byte) ([][]byte, error) {
		calls.Add(1)
		if broken && number(o) == 6 {
			return nil, errors.New("bad object")
		}
		return noneOf(ctx, to, o)
	}), conversion.Batch{MaxObjects: 3, Parallel: 1})
	var h handed
	err := c.Each(t.Context(), convtest.V1, tabs(20), h.done)
	var typed *conversion.Error
	if !errors.As(err, &typed) || typed.Objects[0] != "default/tab-6" || !strings.HasSuffix(err.Error(), "failed: bad object") {
		t.Errorf("got %v", err)
	}
	if got := h.sorted(); !slices.Equal(got, []int{0, 3}) || calls.Load() != 3 {
		t.Errorf("%v were handed over in %d calls", got, calls.Load())
	}
	if out, err := c.Convert(t.Context(), convtest.V1, tabs(20)); out != nil || err == nil {
		t.Errorf("Convert gives %d objects, %v", len(out), err)
	}
	broken = false
	out, err := c.Convert(t.Context(), convtest.V1, tabs(20))
	if err != nil || len(out) != 20 {
		t.Fatalf("%d objects, %v", len(out), err)
	}
	for i, o := range out {
		if number([][]byte{o}) != i {
			t.Errorf("object %d is %s", i, o)
		}
	}
}

func TestCallsUnderWayAtAFailureStillCount_CRD18(t *testing.T) {
	for bad := range 2 {
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int64
			underWay, release := make(chan struct{}), make(chan struct{})
			c := conversion.Batched(callFunc(func(ctx context.Context, to string, o [][]byte) ([][]byte, error) {
				calls.Add(1)
				if number(o) == bad {
					<-underWay
					return nil, errors.New("bad object")
				}
				close(underWay)
				<-release
				return noneOf(ctx, to, o)
			}), conversion.Batch{MaxObjects: 1, Parallel: 2})
			var h handed
			failed := make(chan error, 1)
			go func() { failed <- c.Each(t.Context(), convtest.V1, tabs(9), h.done) }()
			synctest.Wait() // one has failed, and the other is under way
			if len(failed) != 0 {
				t.Errorf("with a bad %d, the call under way is not waited for", bad)
			}
			close(release)
			if err := <-failed; err == nil {
				t.Error("no error")
			}
			if got := h.sorted(); !slices.Equal(got, []int{1 - bad}) || calls.Load() != 2 {
				t.Errorf("%v were handed over in %d calls", got, calls.Load())
			}
		})
	}
}

func TestTheErrorIsThatOfTheFirstObjects_CRD18(t *testing.T) {
	for early := range 2 {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			c := conversion.Batched(callFunc(func(_ context.Context, _ string, o [][]byte) ([][]byte, error) {
				if number(o) != early {
					<-release
				}
				return nil, fmt.Errorf("bad %d", number(o))
			}), conversion.Batch{MaxObjects: 1, Parallel: 2})
			failed := make(chan error)
			go func() {
				_, err := c.Convert(t.Context(), convtest.V1, tabs(2))
				failed <- err
			}()
			synctest.Wait() // one has failed, and the other is under way
			close(release)
			if err := <-failed; err == nil || !strings.HasSuffix(err.Error(), "bad 0") {
				t.Errorf("with %d first: %v", early, err)
			}
		})
	}
}

func TestCallsRunSideBySideUpToTheBound_CRD12(t *testing.T) {
	for _, c := range []struct{ parallel, objects, want int }{{1, 4, 1}, {3, 12, 3}, {8, 2, 2}} {
		synctest.Test(t, func(t *testing.T) {
			var now atomic.Int64
			end := make(chan struct{})
			conv := conversion.Batched(callFunc(func(ctx context.Context, to string, o [][]byte) ([][]byte, error) {
				now.Add(1)
				<-end
				now.Add(-1)
				return noneOf(ctx, to, o)
			}), conversion.Batch{MaxObjects: 1, Parallel: c.parallel})
			done := make(chan error, 1)
			go func() {
				_, err := conv.Convert(t.Context(), convtest.V1, tabs(c.objects))
				done <- err
			}()
			for left := c.objects; left > 0; left-- { // each call that ends makes room for one
				synctest.Wait()
				if want := min(c.want, left); now.Load() != int64(want) {
					t.Fatalf("%d at once with %d to do, want %d", now.Load(), left, want)
				}
				end <- struct{}{}
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestEachCallHasADeadlineOfItsOwn_CRD12(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := 20 * time.Second
		converter := callFunc(func(ctx context.Context, to string, o [][]byte) ([][]byte, error) {
			select {
			case <-time.After(took):
				return noneOf(ctx, to, o)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		c := conversion.Batched(converter, conversion.Batch{MaxObjects: 1, Parallel: 1})
		start := time.Now()
		if _, err := c.Convert(t.Context(), convtest.V1, tabs(3)); err != nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		took = time.Minute
		start = time.Now()
		if _, err := c.Convert(t.Context(), convtest.V1, tabs(3)); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 30*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		c = conversion.Batched(converter, conversion.Batch{Timeout: time.Second})
		start = time.Now()
		if _, err := c.Convert(t.Context(), convtest.V1, tabs(3)); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestNothingIsCalledAfterTheEndOfTheRequest_CRD12(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls int
	c := conversion.Batched(callFunc(func(ctx context.Context, to string, o [][]byte) ([][]byte, error) {
		calls++
		cancel()
		return noneOf(context.Background(), to, o)
	}), conversion.Batch{MaxObjects: 1, Parallel: 1})
	var h handed
	err := c.Each(ctx, convtest.V1, tabs(3), h.done)
	var typed *conversion.Error
	if !errors.As(err, &typed) || typed.To != convtest.V1 || !errors.Is(err, context.Canceled) ||
		err.Error() != "conversion to example.com/v1 was given up: context canceled" {
		t.Errorf("got %v", err)
	}
	if calls != 1 || len(h.first) != 1 {
		t.Errorf("%d calls, handed over %v", calls, h.first)
	}
	if err := c.Each(ctx, convtest.V1, nil, h.done); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}

func TestPanicsBecomeErrors_CRD16(t *testing.T) {
	secret := "what the object holds"
	panics := callFunc(func(_ context.Context, _ string, o [][]byte) ([][]byte, error) {
		if number(o) == 1 {
			panic(secret)
		}
		return o[:number(o)-10], nil
	})
	for name, c := range map[string]struct {
		converter conversion.Converter
		objects   [][]byte
		done      func(int, [][]byte)
		cause     string
	}{
		"a converter's": {panics, tabs(2)[1:], nil, "panic with a string"},
		"among others":  {panics, tabs(2), nil, "panic: runtime error: slice bounds out of range [:-10]"},
		"the caller's":  {conversion.None{}, tabs(2), func(int, [][]byte) { panic(errors.New(secret)) }, "panic with a *errors.errorString"},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []conversion.Call
			bulk := conversion.Batched(c.converter, conversion.Batch{MaxObjects: 1, Parallel: 1}).
				Observed(func(c conversion.Call) { seen = append(seen, c) })
			err := bulk.Each(t.Context(), convtest.V1, c.objects, c.done)
			var typed *conversion.Error
			var panicked *conversion.Panic
			if !errors.As(err, &typed) || !errors.As(err, &panicked) || typed.To != convtest.V1 {
				t.Fatalf("got %#v", err)
			}
			if err.Error() != "conversion to example.com/v1 failed by a defect of the server" || panicked.Error() != c.cause {
				t.Errorf("got %q because of %q", err, panicked)
			}
			if panicked.Value == nil || !strings.Contains(string(panicked.Stack), "bulk_test.go") {
				t.Errorf("%v at %s", panicked.Value, panicked.Stack)
			}
			if len(seen) != 1 || c.done == nil && !errors.Is(seen[0].Err, typed) || c.done != nil && seen[0].Err != nil {
				t.Errorf("the observer saw %v", seen)
			}
		})
	}
}

func TestObserverSeesEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []conversion.Call
		plain := conversion.Batched(callFunc(func(ctx context.Context, to string, o [][]byte) ([][]byte, error) {
			<-time.After(time.Second) // by the bubble's clock: what the call takes
			if number(o) == 4 {
				return nil, errors.New("bad object")
			}
			return noneOf(ctx, to, o)
		}), conversion.Batch{MaxObjects: 2, Parallel: 1})
		c := plain.Observed(func(c conversion.Call) { seen = append(seen, c) })
		if c.Epoch() != 7 || conversion.Batched(c, conversion.Batch{}) != c || conversion.Checked(c) != conversion.Converter(c) {
			t.Error("the same converter is wrapped again")
		}
		err := c.Each(t.Context(), convtest.V1, tabs(7), func(int, [][]byte) {})
		if len(seen) != 3 || seen[0] != (conversion.Call{To: convtest.V1, Objects: 2, Took: time.Second}) || seen[2].Err != err {
			t.Errorf("got %+v, %v", seen, err)
		}
		seen = nil
		if _, err := plain.Convert(t.Context(), convtest.V1, tabs(1)); err != nil || len(seen) != 0 {
			t.Errorf("the first one is observed too: %+v, %v", seen, err)
		}
	})
}
