package wasm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// A call that lasts waits while others have all the turns, and gives its own
// back however it ends.
func TestLongCallsTakeTurns(t *testing.T) {
	e, err := NewEngine(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	e.turns = &turns{taken: make(chan struct{}, 1)} // every call lasts
	start := func(guest Guest, kind plugins.ErrorKind) *Instance {
		t.Helper()
		timeout := 20 * time.Second // what ends by itself has time to
		if kind == plugins.Deadline {
			timeout = 300 * time.Millisecond
		}
		m, err := e.Load(t.Context(), Source{Name: "m", Bytes: guest.Bytes(), Limits: plugins.Limits{Timeout: timeout}})
		if err != nil {
			t.Fatal(err)
		}
		i, err := m.Instantiate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = i.Close() })
		return i
	}
	good := start(Echo("{}"), "")
	for name, c := range map[string]struct {
		guest Guest
		busy  bool // somebody else has the turn
		kind  plugins.ErrorKind
	}{
		"good":    {Echo("{}"), false, ""},
		"trap":    {Echo("").With("wasmgate_convert", Hook(Trap...)), false, plugins.Trap},
		"endless": {Echo("").With("wasmgate_convert", Hook(Forever...)), false, plugins.Deadline},
		"waiting": {Echo("").With("wasmgate_convert", Hook(Forever...)), true, plugins.Deadline},
	} {
		i := start(c.guest, c.kind)
		if c.busy {
			e.turns.taken <- struct{}{}
		}
		_, err := i.Call(t.Context(), plugins.Convert, []byte("{}"))
		var failed *plugins.CallError
		if errors.As(err, &failed) != (c.kind != "") || failed != nil && failed.Kind != c.kind {
			t.Errorf("%s: %v, want %s", name, err, c.kind)
		}
		// What waits does not run: it is given no fuel.
		if used := i.Used().Fuel; c.busy && used > 2*slice {
			t.Errorf("%s: it ran all the same, for %d", name, used)
		}
		if c.busy {
			<-e.turns.taken
		}
		if len(e.turns.taken) != 0 {
			t.Fatalf("%s: its turn was not given back", name)
		}
		if _, err := good.Call(t.Context(), plugins.Convert, []byte("{}")); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
	e.turns.taken <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var failed *plugins.CallError
	if _, err := good.Call(ctx, plugins.Convert, []byte("{}")); !errors.As(err, &failed) || !errors.Is(err, context.Canceled) {
		t.Errorf("its caller went away: %v", err)
	}
}

// A turn is over after a while, and whoever waits gets the next.
func TestATurnEnds(t *testing.T) {
	all := &turns{taken: make(chan struct{}, 1), length: time.Minute}
	now := time.Now()
	one := turn{turns: all}
	one.begin(now)
	end := now.Add(time.Hour)
	if err := one.next(t.Context(), now.Add(59*time.Second), end); err != nil || one.has {
		t.Errorf("a short call has a turn, %v", err)
	}
	if err := one.next(t.Context(), now.Add(time.Minute), end); err != nil || !one.has {
		t.Errorf("no turn, %v", err)
	}
	if err := one.next(t.Context(), one.since.Add(time.Second), end); err != nil || !one.has {
		t.Errorf("the turn was lost, %v", err)
	}
	two := turn{turns: all}
	two.begin(now)
	two.early()
	if err := two.next(t.Context(), now, now.Add(time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) || two.has {
		t.Errorf("two turns at once, %v", err)
	}
	one.end()
	if err := two.next(t.Context(), now.Add(time.Minute), end); err != nil || !two.has {
		t.Errorf("no turn after the first, %v", err)
	}
}

// A start that waits for its turn until its time is over says nothing about its module,
// nor does a configuration: the same bytes start once there is room.
func TestAStartThatIsLateIsNoFault(t *testing.T) {
	e, err := NewEngine(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	e.turns = &turns{taken: make(chan struct{}, 1), length: time.Hour} // only starts take them
	m, err := e.Load(t.Context(), Source{Name: "m", Bytes: Echo("{}").With("_initialize", Func{}).Bytes(), Limits: plugins.Limits{Timeout: 20 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	e.turns.taken <- struct{}{}
	var refused *plugins.LoadError
	if _, err := m.Instantiate(t.Context()); !errors.As(err, &refused) || refused.Reason != plugins.StartLate || refused.Reason.Final() {
		t.Errorf("while somebody else has the turn: %v", err)
	}
	<-e.turns.taken
	i, err := m.Instantiate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = i.Close() }()
	for _, c := range []struct {
		failed error
		want   plugins.LoadReason
	}{
		{i.failure(plugins.ExportConfigure, context.DeadlineExceeded), plugins.StartLate},
		{i.failure(plugins.ExportConfigure, errOutOfFuel), plugins.ConfigRefused},
	} {
		if err := i.unconfigured(t.Context(), c.failed); !errors.As(err, &refused) || refused.Reason != c.want || refused.Module != "m" || !errors.Is(err, c.failed) {
			t.Errorf("configuring: %v, want %s", err, c.want)
		}
	}
}
