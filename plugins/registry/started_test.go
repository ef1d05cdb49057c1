package registry

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/wasm"
)

// A module is refused for a first call that fails by itself, and not for what it had no room
// or no time for.
func TestWhyModulesDoNotStart(t *testing.T) {
	e, err := wasm.NewEngine(t.Context(), wasm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	m, err := e.Load(t.Context(), wasm.Source{Name: "m", Bytes: plugintest.Echo("{}").Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	r := &revision{module: m}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	gone, stop := context.WithCancel(t.Context())
	stop()
	trap := &plugins.CallError{Module: "m", Hook: plugins.Convert, Kind: plugins.Trap, Reason: "it fell"}
	for name, c := range map[string]struct {
		ctx     context.Context
		err     error
		refused bool
	}{
		"it traps":          {t.Context(), trap, true},
		"there is no room":  {t.Context(), &plugins.CallError{Kind: plugins.NoRoom}, false},
		"there was no time": {late, trap, false},
		"nobody waits":      {gone, trap, false},
		"another error":     {t.Context(), errors.New("down"), false},
	} {
		got := r.startFailed(c.ctx, c.err)
		var refused *plugins.LoadError
		if errors.As(got, &refused) != c.refused || !errors.Is(got, c.err) {
			t.Errorf("%s: %v", name, got)
		}
		if c.refused && (refused.Module != "m" || refused.Reason != plugins.StartFailed || refused.Detail != "wasmgate_convert failed: "+string(trap.Kind)+": it fell") {
			t.Errorf("%s: %+v", name, refused)
		}
	}
}
