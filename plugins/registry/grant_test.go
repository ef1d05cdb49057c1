package registry_test

import (
	"context"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

// What a module was granted goes with it: another of its name starts with nothing.
func TestGrantsEndWithTheirModule_WP02(t *testing.T) {
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	r := registry.New(registry.Config{Compiler: e})
	there := func(_ context.Context, o plugins.Object) ([]byte, error) { return []byte(o.Name), nil }
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	one := plugins.Object{Resource: "secrets", Namespace: "default", Name: "one"}
	set(t, r, "m", echo("{}"))
	r.Grant("m", []plugins.Grant{{Resource: "secrets", Namespace: "default", Names: []string{"one"}}})
	if data, err := registry.Find(r, "m", there)(t.Context(), one); err != nil || string(data) != "one" {
		t.Fatalf("granted, it finds %s, %v", data, err)
	}
	before := registry.Find(r, "m", there) // a call that is under way
	r.Remove("m")
	set(t, r, "m", echo("{}"))
	for what, find := range map[string]plugins.Lookup{"a call of the removed module": before, "another module of its name": registry.Find(r, "m", there)} {
		if data, err := find(t.Context(), one); err == nil {
			t.Errorf("%s finds %s", what, data)
		}
	}
}
