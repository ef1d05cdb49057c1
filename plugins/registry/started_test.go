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
		ctx    context.Context
		err    error
		reason plugins.LoadReason
	}{
		"it traps":          {t.Context(), trap, plugins.StartFailed},
		"it is late":        {t.Context(), &plugins.CallError{Hook: plugins.Convert, Kind: plugins.Trap, Reason: "it fell", Cause: context.DeadlineExceeded}, plugins.StartLate},
		"there is no room":  {t.Context(), &plugins.CallError{Kind: plugins.NoRoom}, ""},
		"there was no time": {late, trap, ""},
		"nobody waits":      {gone, trap, ""},
		"another error":     {t.Context(), errors.New("down"), ""},
	} {
		got := r.startFailed(c.ctx, c.err)
		var refused *plugins.LoadError
		if errors.As(got, &refused) != (c.reason != "") || !errors.Is(got, c.err) {
			t.Errorf("%s: %v", name, got)
		}
		if c.reason != "" && (refused.Module != "m" || refused.Reason != c.reason || refused.Detail != "wasmgate_convert failed: "+string(trap.Kind)+": it fell") {
			t.Errorf("%s: %+v", name, refused)
		}
	}
}
