package wasm

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// nesting is a module whose hook calls itself with one less until that is zero,
// and keeps some values meanwhile; then it replies with nothing.
func nesting(depth int32, values int) Guest {
	g := Echo("")
	g = g.With("zz_deep", Func{Params: []byte{I32}})
	keep, use := []byte(nil), []byte(nil)
	for range values { // each is on the stack during the call
		keep, use = append(keep, 0x20, 0), append(use, 0x1a)
	}
	deep := g.Index("zz_deep")
	g = g.With("zz_deep", Func{Params: []byte{I32}, Code: Join(
		[]byte{0x20, 0, 0x45, 0x0d, 0}, // not more than zero: br_if
		keep, []byte{0x20, 0}, ConstI32(1), []byte{0x6b}, Call(deep), use)})
	return g.With(string(plugins.Convert), Hook(Join(ConstI32(depth), Call(deep), ConstI64(0))...))
}

// The stack is as long as the runtime says, which the bound needs to know.
func TestTheLengthOfTheStackIsKnown(t *testing.T) {
	i := start(t, nesting(2000, 0).Bytes(), inTime)
	before := i.hooks[plugins.Convert].stackBytes()
	if _, err := i.CallSeeing(t.Context(), plugins.Convert, nil, 1, nil); err != nil {
		t.Fatal(err)
	}
	if after := i.hooks[plugins.Convert].stackBytes(); before <= 0 || after <= before || after > keptStack {
		t.Errorf("%d bytes before, %d after", before, after)
	}
}

// Calls that nest without end stop early, wherever they do it, and leave little
// behind; those that nest deeply and return leave no long stack behind.
func TestNestedCallsAreBounded(t *testing.T) {
	const most = 64 << 20 // bytes that Go may get for one such call, many times less than without a bound
	boots := nesting(1<<30, 0)
	for name, guest := range map[string]Guest{
		"small frames": nesting(1<<30, 0),
		"large frames": nesting(1<<30, 300),
		"in the start": boots.With("zzz_boot", Func{Code: Join(ConstI32(1<<30), Call(boots.Index("zz_deep")))}),
	} {
		if name == "in the start" {
			guest.Start = "zzz_boot"
		}
		t.Run(name, func(t *testing.T) {
			m := load(t, guest.Bytes(), inTime)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			i, err := m.Instantiate(t.Context())
			if err == nil {
				t.Cleanup(func() { _ = i.Close() })
				_, err = i.Call(t.Context(), plugins.Convert, nil)
			}
			runtime.ReadMemStats(&after)
			var call *plugins.CallError
			var load *plugins.LoadError
			switch {
			case errors.As(err, &call) && call.Kind == plugins.OutOfStack && strings.Contains(call.Reason, "need more than 8388608 bytes of stack"):
			case errors.As(err, &load) && load.Reason == plugins.StartFailed && strings.Contains(load.Detail, "nested too deeply"):
			default:
				t.Errorf("%v", err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > most {
				t.Errorf("it took %d bytes", got)
			}
		})
	}
	i := start(t, nesting(50_000, 0).Bytes(), inTime)
	if _, err := i.Call(t.Context(), plugins.Convert, nil); err != nil {
		t.Fatal(err)
	}
	if left := i.hooks[plugins.Convert].stackBytes(); left > keptStack {
		t.Errorf("%d bytes of stack are kept", left)
	}
}

// inTime are the default limits, but for the time, which a busy machine may not have.
var inTime = plugins.Limits{Timeout: 20 * time.Second}

// What encoding/json nests at most fits into the stack, at the default limits.
func TestDeepJSONFitsIntoTheStack(t *testing.T) {
	if _, err := convertOne(t, start(t, Build(t, Hostile), inTime), "nested"); err != nil {
		t.Error(err)
	}
}
