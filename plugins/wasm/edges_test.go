package wasm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/plugins"
	. "github.com/wasmgate/wasmgate/plugins/plugintest"
)

// A module has the hooks that it exports, whichever these are.
func TestAModuleHasTheHooksThatItExports(t *testing.T) {
	all := []plugins.Hook{plugins.Convert, plugins.Admit, plugins.Prioritize}
	for _, want := range [][]plugins.Hook{{plugins.Admit}, {plugins.Prioritize}, {plugins.Convert, plugins.Prioritize}, all} {
		g := Echo("{}").Without(string(plugins.Convert))
		for _, h := range want {
			g = g.With(string(h), HookReturning(DataAt, 2))
		}
		if got := load(t, g.Bytes(), plugins.Limits{}).Hooks(); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	none := Echo("{}")
	none.Pages, none.Data = 0, nil
	_, err := engine(t).Load(t.Context(), Source{Name: "m", Bytes: none.With(plugins.ExportMemory, Func{}).Bytes()})
	var refused *plugins.LoadError
	if !errors.As(err, &refused) || refused.Reason != plugins.MissingExport || !strings.Contains(refused.Detail, "its memory") {
		t.Errorf("a function called memory: %v", err)
	}
}

// A configuration that the module fails at is refused; one that nobody waits
// for any more is not the module's fault.
func TestAConfigurationThatFails(t *testing.T) {
	configured := func(ctx context.Context, configure Func) error {
		m, err := engine(t).Load(t.Context(), Source{
			Name: "c", Bytes: Echo("{}").With(plugins.ExportConfigure, configure).Bytes(),
			Config: []byte(`{"a":1}`), Limits: plugins.Limits{Timeout: 20 * time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close(context.Background()) }()
		i, err := m.Instantiate(ctx)
		if err == nil {
			_ = i.Close()
		}
		return err
	}
	var refused *plugins.LoadError
	if err := configured(t.Context(), Hook(Trap...)); !errors.As(err, &refused) || refused.Reason != plugins.ConfigRefused {
		t.Errorf("it traps: %v", err)
	}
	if err := configured(t.Context(), HookReturning(DataAt, 0)); err != nil {
		t.Errorf("it has nothing to say: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for name, ctx := range map[string]context.Context{"nobody waits": ctx, "nobody waits, and the timer is late": past{t.Context()}} {
		if err := configured(ctx, Hook(Forever...)); errors.As(err, &refused) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The module is not to blame for what the caller had no time for, also when the
// timer of that is late.
func TestALateTimerIsNotTheModulesFault(t *testing.T) {
	limits := plugins.Limits{Timeout: 20 * time.Second}
	i := start(t, Echo("{}").With(string(plugins.Convert), Hook(Forever...)).Bytes(), limits)
	var call *plugins.CallError
	if _, err := i.Call(past{t.Context()}, plugins.Convert, []byte("{}")); !errors.As(err, &call) || call.Kind != plugins.Deadline || !strings.HasPrefix(call.Reason, "the request ended before the module did") {
		t.Errorf("a call: %v", err)
	}
	if err := i.Probe(past{t.Context()}); !errors.As(err, &call) || !strings.HasPrefix(call.Reason, "the request ended before the module did") {
		t.Errorf("a probe: %v", err)
	}
	var refused *plugins.LoadError
	_, err := load(t, Echo("{}").With("_initialize", Func{Code: Forever}).Bytes(), limits).Instantiate(past{t.Context()})
	if errors.As(err, &refused) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a start: %v", err)
	}
	if Ended(t.Context()) != nil || Ended(past{t.Context()}) == nil {
		t.Error("which context has ended is mistaken")
	}
}

func TestADescriptionIsASmallObject(t *testing.T) {
	const most = 64 << 10
	object := func(size int) string { return `{"a":"` + strings.Repeat("x", size-8) + `"}` }
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"small": {`{}`, true}, "the largest": {object(most), true}, "too large": {object(most + 1), false},
		"a list": {`[]`, false}, "no JSON": {`{`, false},
	} {
		g := Echo(c.text).With(plugins.ExportDescribe, Func{Results: []byte{I64}, Code: ConstI64(DataAt<<32 | uint64(len(c.text)))})
		got, err := start(t, g.Bytes(), plugins.Limits{}).Describe(t.Context())
		var bad *plugins.CallError
		if c.ok && (err != nil || string(got) != c.text) || !c.ok && (!errors.As(err, &bad) || bad.Kind != plugins.BadReply) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if got, err := start(t, Echo("{}").Bytes(), plugins.Limits{}).Describe(t.Context()); got != nil || err != nil {
		t.Errorf("a module that describes nothing: %q, %v", got, err)
	}
}

func TestRepliesUpToTheLimitAreRead(t *testing.T) {
	for limit, ok := range map[int64]bool{6: true, 5: true, 4: false} {
		reply, err := start(t, Echo("hello").Bytes(), plugins.Limits{ResponseBytes: limit}).Call(t.Context(), plugins.Convert, []byte("{}"))
		var bad *plugins.CallError
		if ok && (err != nil || string(reply) != "hello") || !ok && (!errors.As(err, &bad) || bad.Kind != plugins.BadReply) {
			t.Errorf("a limit of %d: %q, %v", limit, reply, err)
		}
	}
}

func TestWhatAModuleSaysIsCut(t *testing.T) {
	for in, want := range map[string]string{
		strings.Repeat("x", 300):       strings.Repeat("x", 300),
		strings.Repeat("x", 301):       strings.Repeat("x", 300) + "...",
		strings.Repeat("x", 299) + "é": strings.Repeat("x", 299) + "...",
	} {
		if got := shorten(in); got != want {
			t.Errorf("%d bytes become %d", len(in), len(got))
		}
	}
	// Nobody needs to listen.
	env := newEnvironment("m", nil)
	env.begin()
	env.Log([]byte("panic: x"))
	env.end()
	if env.lastWords() != "panic: x" {
		t.Errorf("the last words are %q", env.lastWords())
	}
}
