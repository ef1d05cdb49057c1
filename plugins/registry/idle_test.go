package registry_test

import (
	"context"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/pool"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

// echoBytes is the memory of an instance that echoes; while it is idle it takes
// that and some pages that it wrote to.
const echoBytes = 128 << 10

// The idle instances of all modules share what they may take.
func TestIdleInstancesOfAllModulesAreBounded(t *testing.T) {
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(registry.Config{Compiler: e, Instances: 2, IdleBytes: 3*echoBytes - 1})
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	want := func(what string, all map[string]pool.Stats) {
		t.Helper()
		got := r.Instances()
		for name, s := range all {
			s.Max, s.IdleSize = 2, got[name].IdleSize
			if least := int64(s.Idle) * echoBytes; got[name] != s || s.IdleSize < least || s.IdleSize > least*5/4 {
				t.Errorf("%s: %s has %+v, want %+v", what, name, got[name], s)
			}
		}
		if len(got) != len(all) {
			t.Errorf("%s: %+v", what, got)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		set(t, r, name, echo("{}"))
	}
	want("each has started one", map[string]pool.Stats{"a": {GivenBack: 1}, "b": {Idle: 1}, "c": {Idle: 1}})
	call := func(name string) {
		t.Helper()
		if err := r.Call(t.Context(), name, plugins.Convert, []byte("{}"), func([]byte) error {
			if s := r.Instances()[name]; s.InUse != 1 {
				t.Errorf("%+v during a call", s)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	call("b")
	call("a")
	want("c was idle for longest", map[string]pool.Stats{"a": {Idle: 1, GivenBack: 1}, "b": {Idle: 1}, "c": {GivenBack: 1}})
	r.Remove("b")
	set(t, r, "d", echo("{}"))
	want("with the room of one that is gone", map[string]pool.Stats{"a": {Idle: 1, GivenBack: 1}, "c": {GivenBack: 1}, "d": {Idle: 1}})
}
