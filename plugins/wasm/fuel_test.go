package wasm

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion/convtest"
	"github.com/wasmgate/wasmgate/conversion/review"
	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// counting is a guest whose hook runs a loop of five instructions some times.
func counting(times int32) Guest {
	code := Join(ConstI32(times), []byte{0x21, 2, 0x03, 0x40, 0x20, 2}, ConstI32(1), []byte{0x6b, 0x22, 2, 0x0d, 0, 0x0b}, ConstI64(0))
	f := Hook(code...)
	f.Locals = []byte{1, 1, I32}
	return Echo("").With(string(plugins.Convert), f)
}

func TestFuelBoundsACallExactly(t *testing.T) {
	for name, c := range map[string]struct {
		guest Guest
		want  int64
	}{
		// alloc: a constant, a parameter and a result; the hook: two
		// parameters, a result and the instructions, in each iteration of a
		// loop if there is one.
		"without a loop": {Echo("{}"), 3 + 3 + 1},
		"one slice":      {counting(1000), 3 + 1000*(5+3+3)},
		"many slices":    {counting(1_000_000), 3 + 1_000_000*(5+3+3)},
	} {
		t.Run(name, func(t *testing.T) {
			enough := start(t, c.guest.Bytes(), plugins.Limits{Fuel: c.want})
			for range 2 { // each call has all of it
				if _, err := enough.Call(t.Context(), plugins.Convert, []byte("{}")); err != nil || enough.env.fuel.used() != c.want {
					t.Fatalf("it spent %d: %v", enough.env.fuel.used(), err)
				}
			}
			_, err := start(t, c.guest.Bytes(), plugins.Limits{Fuel: c.want - 1}).Call(t.Context(), plugins.Convert, []byte("{}"))
			var call *plugins.CallError
			if !errors.As(err, &call) || call.Kind != plugins.OutOfFuel || !strings.Contains(err.Error(), "wasmgate_convert needs more than its limit of") {
				t.Errorf("one less: %v", err)
			}
		})
	}
}

// Memory that cannot be had costs what it would; a guest that asks for it again and again
// fills the account, which never goes below zero.
func TestTheAccountOfFuelIsFullInTheEnd(t *testing.T) {
	code := Join(ConstI32(131_100), []byte{0x21, 2, 0x03, 0x40}, ConstI32(-1), []byte{0x40, 0, 0x1a, 0x20, 2}, ConstI32(1), []byte{0x6b, 0x22, 2, 0x0d, 0, 0x0b}, ConstI64(0))
	f := Hook(code...)
	f.Locals = []byte{1, 1, I32}
	i := start(t, Echo("").With(string(plugins.Convert), f).Bytes(), plugins.Limits{Timeout: 20 * time.Second})
	for range 2 { // each call begins with nothing
		if _, err := i.Call(t.Context(), plugins.Convert, nil); err != nil || i.Used().Fuel != math.MaxInt64 {
			t.Errorf("it spent %d: %v", i.Used().Fuel, err)
		}
	}
	var call *plugins.CallError
	if _, err := start(t, Echo("").With(string(plugins.Convert), f).Bytes(), plugins.Limits{Fuel: math.MaxInt64 - 1}).Call(t.Context(), plugins.Convert, nil); !errors.As(err, &call) || call.Kind != plugins.OutOfFuel {
		t.Errorf("beyond a limit: %v", err)
	}
}

// What joins cost that move many locals is charged, and what few do costs nothing more.
func TestManyLocalsCostWhereWaysJoin(t *testing.T) {
	// Four that join: a block that a branch leaves, the branch, an if, and a loop.
	code := Join([]byte{0x02, 0x40, 0x20, 0, 0x0d, 0, 0x0b}, []byte{0x20, 0, 0x04, 0x40, 0x0b}, []byte{0x03, 0x40, 0x0b}, ConstI64(0))
	spent := func(locals int, code []byte) int64 {
		f := Hook(code...)
		f.Locals = Join([]byte{1}, Number(locals), []byte{I64})
		i := start(t, Echo("").With(string(plugins.Convert), f).Bytes(), plugins.Limits{})
		if _, err := i.Call(t.Context(), plugins.Convert, nil); err != nil {
			t.Fatal(err)
		}
		return i.Used().Fuel
	}
	few := spent(1, code)
	for locals, want := range map[int]int64{98: 0, 100: 5, 1098: 5 * 500} { // and two parameters; entering costs, too
		if got := spent(locals, code) - few; got != want {
			t.Errorf("%d locals cost %d more, not %d", locals, got, want)
		}
	}
	again := Join(ConstI32(10), []byte{0x21, 1, 0x03, 0x40, 0x20, 1}, ConstI32(1), []byte{0x6b, 0x22, 1, 0x0d, 0, 0x0b}, ConstI64(0))
	if got := spent(1098, again) - spent(1, again); got != 10*3*500 {
		t.Errorf("a loop that runs ten times costs %d more", got) // the branch, and, charged with it, the loop and the function
	}
}

func TestStartingNeedsFuel(t *testing.T) {
	g := Echo("{}").With("_initialize", Func{Code: Forever})
	_, err := load(t, g.Bytes(), plugins.Limits{Fuel: 100_000}).Instantiate(t.Context())
	var refused *plugins.LoadError
	if !errors.As(err, &refused) || refused.Reason != plugins.StartFailed ||
		!strings.Contains(refused.Detail, "starting an instance needs more than its limit of 100000 units of fuel") {
		t.Errorf("got %v", err)
	}
}

func TestNegativeFuelIsNoLimit(t *testing.T) {
	i := start(t, counting(1_000_000).Bytes(), plugins.Limits{Fuel: -1})
	if _, err := i.Call(t.Context(), plugins.Convert, nil); err != nil {
		t.Error(err)
	}
}

// The same request costs the same in every new instance.
func TestTheSameRequestSpendsTheSame(t *testing.T) {
	m := load(t, Build(t, CronTab), inTime)
	request := review.AppendRequest(nil, review.V1, "u", convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)})
	var starts, calls [3]int64
	for n := range starts {
		i, err := m.Instantiate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer i.Close()
		starts[n] = i.env.fuel.used()
		if _, err := i.Call(t.Context(), plugins.Convert, request); err != nil {
			t.Fatal(err)
		}
		calls[n] = i.env.fuel.used()
	}
	t.Logf("starting costs %d, converting %d", starts[0], calls[0])
	if starts[1] != starts[0] || starts[2] != starts[0] || calls[1] != calls[0] || calls[2] != calls[0] || calls[0] <= 0 || starts[0] <= 0 {
		t.Errorf("starting cost %d, converting %d", starts, calls)
	}
}

// A guest that runs on and on lets the garbage collector work.
func TestTheGarbageCollectorGetsItsTurn(t *testing.T) {
	i := start(t, Echo("{}").With(string(plugins.Convert), Hook(Forever...)).Bytes(), plugins.Limits{Timeout: 20 * time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := i.Call(ctx, plugins.Convert, nil)
		ended <- err
	}()
	for range 3 {
		runtime.GC()
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// past is a context whose deadline has passed before its timer was noticed.
type past struct{ context.Context }

func (past) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }

func TestRefuel(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx         context.Context
		before      fuel
		left        int64
		next, spent int64
		err         error
	}{
		"first":             {t.Context(), fuel{}, 0, slice, 0, nil},
		"a debt":            {t.Context(), fuel{spent: 5, given: 10}, -7, slice, 22, nil},
		"early":             {t.Context(), fuel{spent: 5, given: 10}, 4, slice, 11, nil},
		"limit":             {t.Context(), fuel{limit: 30, given: 10}, -1, 19, 11, nil},
		"limit reached":     {t.Context(), fuel{limit: 30, given: 30}, 0, 0, 30, nil},
		"over the limit":    {t.Context(), fuel{limit: 30, given: 30}, -1, 0, 31, errOutOfFuel},
		"far limit":         {t.Context(), fuel{limit: slice + 1, given: 0}, -1, slice, 1, nil},
		"canceled":          {canceled, fuel{}, 0, 0, 0, context.Canceled},
		"late":              {past{t.Context()}, fuel{}, 0, 0, 0, context.DeadlineExceeded},
		"too late":          {t.Context(), fuel{deadline: time.Now()}, 0, 0, 0, context.DeadlineExceeded},
		"limit comes first": {canceled, fuel{limit: 1}, -2, 0, 2, errOutOfFuel},
	} {
		f := c.before
		if f.deadline.IsZero() {
			f.deadline = time.Now().Add(time.Hour)
		}
		next, err := f.refuel(c.ctx, time.Now(), c.left)
		if next != c.next || f.spent != c.spent || !errors.Is(err, c.err) {
			t.Errorf("%s: next %d, spent %d: %v", name, next, f.spent, err)
		}
		if want := next; err == nil && f.given != want || err != nil && f.given != c.left {
			t.Errorf("%s: given %d", name, f.given)
		}
	}
}
