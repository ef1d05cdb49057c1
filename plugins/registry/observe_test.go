package registry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
)

type answer struct{ inGoodOrder bool }

func (answer) Error() string   { return "no" }
func (a answer) Verdict() bool { return a.inGoodOrder }

// Whoever observes a registry learns what each call took, and which of them
// cost an instance.
func TestCallsAreObserved(t *testing.T) {
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	var fuel []int64
	r := registry.New(registry.Config{Compiler: e, Observe: func(name string, hook plugins.Hook, used plugins.Usage, discarded error) {
		seen = append(seen, fmt.Sprintf("%s %s %d %v", name, hook, used.MemoryBytes, discarded))
		fuel = append(fuel, used.Fuel)
	}})
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	set(t, r, "echo", plugintest.Echo("{}").Bytes())
	trap := plugintest.Echo("{}").With(string(plugins.Convert), plugintest.Hook(0x00))
	set(t, r, "trap", trap.Bytes())
	refusal := errors.New("not what was asked for")
	for _, c := range []struct {
		name, want string
		hook       plugins.Hook
		check      error
	}{
		{"echo", "echo wasmgate_convert 131072 <nil>", plugins.Convert, nil},
		{"echo", "echo wasmgate_convert 131072 not what was asked for", plugins.Convert, refusal},
		{"echo", "echo wasmgate_convert 131072 <nil>", plugins.Convert, answer{true}},
		{"echo", "echo wasmgate_convert 131072 no", plugins.Convert, answer{false}},
		{"echo", "", plugins.Admit, nil}, // which it does not have
		{"none", "", plugins.Convert, nil},
	} {
		seen = nil
		err := r.Call(t.Context(), c.name, c.hook, []byte("{}"), func([]byte) error { return c.check })
		if c.want == "" {
			if err == nil || seen != nil {
				t.Errorf("%s %s: %v, observed %q", c.name, c.hook, err, seen)
			}
			continue
		}
		if err != c.check || len(seen) != 1 || seen[0] != c.want {
			t.Errorf("%v: %v, observed %q", c.check, err, seen)
		}
	}
	if len(fuel) != 4 || fuel[0] <= 0 || fuel[1] != fuel[0] {
		t.Errorf("the calls spent %d", fuel)
	}
	seen = nil
	err = r.Call(t.Context(), "trap", plugins.Convert, []byte("{}"), func([]byte) error { return nil })
	var failure *plugins.CallError
	if !errors.As(err, &failure) || failure.Kind != plugins.Trap || len(seen) != 1 {
		t.Errorf("%v, observed %q", err, seen)
	}
}

// Instances that their callers left are replaced as fast as they are needed.
func TestWhoLeavesHoldsUpNobody(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "echo", plugintest.Echo("{}").Bytes())
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 200 {
		err := r.Call(gone, "echo", plugins.Convert, []byte("{}"), func([]byte) error { return nil })
		var failed *plugins.CallError
		if !errors.As(err, &failed) || failed.Kind != plugins.Deadline {
			t.Fatalf("got %v", err)
		}
	}
	if s := r.Instances()["echo"]; s.HeldBack != 0 {
		t.Errorf("%+v", s)
	}
}

// Those that a call changed for good are, like those that it failed in, replaced only so
// often: a module that does that in every call would have one started for each.
func TestWhatEachCallChangesIsReplacedSlowly(t *testing.T) {
	r := alone(t)
	set(t, r, "keeper", plugintest.Keepers()["data.drop"].Bytes())
	for range 1000 { // a hundred are allowed, and ten in a second
		ask(t, r, "keeper", plugins.Convert, []byte("{}"))
		if r.Instances()["keeper"].HeldBack > 0 {
			return
		}
	}
	t.Errorf("none of 1000 has waited: %+v", r.Instances()["keeper"])
}
