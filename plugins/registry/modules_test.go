package registry_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/conversion/convtest"
	_ "github.com/wasmgate/wasmgate/examples/crontab"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/plugins/registry"
	"github.com/wasmgate/wasmgate/plugins/wasm"
	"github.com/wasmgate/wasmgate/sdk"
)

var engine = sync.OnceValues(func() (*wasm.Engine, error) {
	return wasm.NewEngine(context.Background(), wasm.Config{})
})

func newRegistry(t testing.TB) *registry.Registry {
	t.Helper()
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	// Compiling takes twenty times as long when the race detector watches it.
	r := registry.New(registry.Config{Compiler: e, LoadTimeout: 10 * time.Minute})
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// digestOf stands for whoever stores modules.
func digestOf(module []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(module)) }

func set(t testing.TB, r *registry.Registry, name string, module []byte) plugins.Status {
	t.Helper()
	s, err := r.Set(t.Context(), name, plugins.Revision{Bytes: module, Digest: digestOf(module), Limits: plugins.Limits{Timeout: 30 * time.Second}}) // enough of a busy machine
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance_WP01_CRD11(t *testing.T) {
	convtest.Run(t, convtest.Subject{New: func(t *testing.T) conversion.Converter {
		r := newRegistry(t)
		set(t, r, "crontab", plugintest.Build(t, plugintest.CronTab))
		return r.Converter("crontab")
	}})
}

// native answers with the same code outside of WebAssembly.
type native struct{}

func (native) Epoch() uint64 { return 0 }
func (native) Convert(_ context.Context, desired string, objects [][]byte) ([][]byte, error) {
	var out [][]byte
	for _, o := range objects {
		c, err := sdk.Apply(o, desired)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

func TestSameRepliesAndErrorsAsOutsideOfWasm_WP01(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "crontab", plugintest.Build(t, plugintest.CronTab))
	inside, outside := r.Converter("crontab"), conversion.Checked(native{})
	unparsable := bytes.Replace(convtest.Object(1, convtest.V1beta1), []byte("host1:1001"), []byte("nonsense"), 1)
	for name, objects := range map[string][][]byte{
		"converts": {convtest.Object(1, convtest.V1beta1), convtest.Object(2, convtest.V1beta1)},
		"fails":    {unparsable},
	} {
		for _, desired := range []string{convtest.V1, "example.com/v9"} {
			a, errA := inside.Convert(t.Context(), desired, objects)
			b, errB := outside.Convert(t.Context(), desired, objects)
			if !bytes.Equal(bytes.Join(a, nil), bytes.Join(b, nil)) || strings.Replace(fmt.Sprint(errA), `module "crontab"`, "webhook", 1) != fmt.Sprint(errB) {
				t.Errorf("%s to %s:\n%s %v\n%s %v", name, desired, a, errA, b, errB)
			}
		}
	}
	_, err := inside.Convert(t.Context(), convtest.V1, [][]byte{unparsable})
	want := `conversion module "crontab" for example.com/v1beta1, Kind=CronTab failed: CronTab default/tab-1: hostPort could not be parsed into a separate host and port`
	if err == nil || err.Error() != want {
		t.Errorf("CRD-15: got %v", err)
	}
}

func hostileObject(mode string) []byte {
	return []byte(`{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"},"mode":"` + mode + `"}`)
}

// Modules have no use for managedFields, which are large; they come back all
// the same.
func TestModulesAreNotSentManagedFields(t *testing.T) {
	r := newRegistry(t)
	set(t, r, "hostile", plugintest.Build(t, plugintest.Hostile))
	const managed = `"managedFields":[{"manager":"m"}],"name"`
	in := bytes.Replace(hostileObject("managed"), []byte(`"name"`), []byte(managed), 1)
	out, err := r.Converter("hostile").Convert(t.Context(), "example.com/v1", [][]byte{in})
	if err != nil || !bytes.Contains(out[0], []byte(`"sees":false`)) || !bytes.Contains(out[0], []byte(managed)) {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestHostileModulesFailOnlyTheirOwnRequests_WP01(t *testing.T) {
	r := newRegistry(t)
	within := func(timeout time.Duration) {
		module := plugintest.Build(t, plugintest.Hostile)
		_, err := r.Set(t.Context(), "hostile", plugins.Revision{Bytes: module, Digest: digestOf(module),
			Limits: plugins.Limits{MemoryBytes: 32 << 20, Timeout: timeout, ResponseBytes: 1 << 20}})
		if err != nil {
			t.Fatal(err)
		}
	}
	set(t, r, "crontab", plugintest.Build(t, plugintest.CronTab))
	hostile, good := r.Converter("hostile"), r.Converter("crontab")
	prefix := `conversion module "hostile" for example.com/v1beta1, Kind=Thing `
	for mode, want := range map[string]string{
		"fail":      prefix + "failed: Thing n/a: it is not my day",
		"panic":     prefix + `failed: wasm module "hostile": wasmgate_convert: Trap: wasm error: unreachable; it logged: panic: something is wrong`,
		"exit":      prefix + `failed: wasm module "hostile": wasmgate_convert: Trap: it exited with code 3`,
		"loop":      prefix + `failed: wasm module "hostile": wasmgate_convert: DeadlineExceeded: the module did not finish within 4s and was stopped`,
		"memory":    prefix + `failed: wasm module "hostile": wasmgate_convert: MemoryExceeded: it ran out of memory`,
		"huge":      prefix + `failed: wasm module "hostile": wasmgate_convert: BadReply: the reply has 8`,
		"uid":       prefix + "returned invalid object: must have the same UID: u != changed",
		"name":      prefix + "returned invalid object: must have the same name: a != changed",
		"namespace": prefix + "returned invalid object: must have the same namespace: n != changed",
		"kind":      prefix + "returned invalid object at index 0: invalid kind (expected Thing, received Other)",
	} {
		t.Run("CRD-16 CRD-17 "+mode, func(t *testing.T) {
			if within(30 * time.Second); mode == "loop" {
				within(4 * time.Second) // in which the module can still start and convert
			}
			out, err := hostile.Convert(t.Context(), convtest.V1, [][]byte{hostileObject(mode)})
			if out != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %s %v\nwant %s", out, err, want)
			}
			if _, err := good.Convert(t.Context(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)}); err != nil {
				t.Errorf("another module: %v", err)
			}
			if _, err := hostile.Convert(t.Context(), convtest.V1, [][]byte{hostileObject("")}); err != nil {
				t.Errorf("CRD-18: the same module, afterwards: %v", err)
			}
		})
	}
	t.Run("CRD-17 other metadata is restored", func(t *testing.T) {
		within(30 * time.Second)
		out, err := hostile.Convert(t.Context(), convtest.V1, [][]byte{hostileObject("metadata")})
		want := `"metadata":{"labels":{"added":"yes"},"name":"a","namespace":"n","uid":"u","resourceVersion":"1"}`
		if err != nil || !strings.Contains(string(out[0]), want) {
			t.Errorf("got %s, %v", out, err)
		}
	})
}

// describing is a module with two hooks that says this of itself.
func describing(text string) plugintest.Guest {
	return plugintest.Echo(text).
		With(string(plugins.Admit), plugintest.HookReturning(plugintest.DataAt, uint32(len(text)))).
		With(plugins.ExportDescribe, plugintest.Func{Results: []byte{plugintest.I64}, Code: plugintest.ConstI64(plugintest.DataAt<<32 | uint64(len(text)))})
}

func TestAModuleHasTheHooksThatItSays(t *testing.T) {
	r := newRegistry(t)
	answer := func([]byte) error { return nil }
	if s := set(t, r, "m", describing(`{"hooks":["wasmgate_admit"]}`).Bytes()); !slices.Equal(s.Hooks, []plugins.Hook{plugins.Admit}) {
		t.Errorf("hooks %v", s.Hooks)
	}
	if err := r.Call(t.Context(), "m", plugins.Admit, []byte("{}"), answer); err != nil {
		t.Error(err)
	}
	var call *plugins.CallError
	if err := r.Call(t.Context(), "m", plugins.Convert, []byte("{}"), answer); !errors.As(err, &call) || call.Kind != plugins.Refused || !strings.Contains(call.Reason, "it has [wasmgate_admit]") {
		t.Errorf("a hook that it exports and does not have: %v", err)
	}
	for text, want := range map[string]string{
		`{"hooks":["wasmgate_prioritize"]}`: `its description names the hook "wasmgate_prioritize", which it does not export`,
		`{"hooks":[]}`:                      "it has no hook",
		`{"hooks":{}}`:                      "its description cannot be read",
	} {
		module := describing(text).Bytes()
		_, err := r.Set(t.Context(), "m", plugins.Revision{Bytes: module, Digest: digestOf(module)})
		var refused *plugins.LoadError
		if !errors.As(err, &refused) || refused.Reason != plugins.BadDescription || refused.Module != "m" || !strings.Contains(refused.Detail, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if s, _ := r.Status("m"); !slices.Equal(s.Hooks, []plugins.Hook{plugins.Admit}) {
		t.Errorf("hooks %v after refused ones", s.Hooks)
	}
}

// A configuration is checked by the module's own schema before any instance
// gets it.
func TestAConfigurationIsCheckedBeforeItIsUsed(t *testing.T) {
	r := newRegistry(t)
	module := describing(`{"configSchema":{"type":"object","required":["region"]}}`).
		With(plugins.ExportConfigure, plugintest.HookReturning(0, 0)).Bytes()
	var refused *plugins.LoadError
	load := func(config string) error {
		_, err := r.Set(t.Context(), "m", plugins.Revision{Bytes: module, Digest: digestOf(module), Config: []byte(config)})
		return err
	}
	if err := load(`{"region":"x"}`); err != nil {
		t.Fatal(err)
	}
	if err := load(`{}`); !errors.As(err, &refused) || refused.Reason != plugins.ConfigRefused || refused.Module != "m" || !strings.Contains(refused.Detail, "its configuration: config.region in body is required") {
		t.Errorf("got %v", err)
	}
	if s, _ := r.Status("m"); s.Serving == nil || string(s.Serving.Config) != `{"region":"x"}` {
		t.Errorf("serves %+v", s.Serving)
	}
	if err := load(``); !errors.As(err, &refused) || refused.Reason != plugins.ConfigRefused || !strings.Contains(refused.Detail, "it has no configuration: config.region in body is required") {
		t.Errorf("without a configuration: %v", err)
	}
	module = describing(`{"configSchema":{"type":"object","properties":{"region":{"type":"string"}}}}`).
		With(plugins.ExportConfigure, plugintest.HookReturning(0, 0)).Bytes()
	if err := load(``); err != nil {
		t.Errorf("without a configuration, and none is required: %v", err)
	}
	module = describing(`{"configSchema":{"$ref":"#/definitions/a"}}`).With(plugins.ExportConfigure, plugintest.Func{Params: []byte{plugintest.I32, plugintest.I32}, Results: []byte{plugintest.I64}, Code: plugintest.Trap}).Bytes()
	if err := load(`{}`); !errors.As(err, &refused) || refused.Reason != plugins.ConfigRefused || !strings.Contains(refused.Detail, "the schema of its configuration cannot be used") {
		t.Errorf("an odd schema: %v", err)
	}
}

func TestABadRevisionLeavesTheGoodOneServing(t *testing.T) {
	r := newRegistry(t)
	module := plugintest.Build(t, plugintest.CronTab)
	c := r.Converter("crontab")
	in := [][]byte{convtest.Object(1, convtest.V1beta1)}

	_, err := c.Convert(t.Context(), convtest.V1, in)
	var call *plugins.CallError
	if !errors.As(err, &call) || call.Kind != plugins.NotReady || !strings.Contains(call.Reason, "wasmgate module push crontab") || c.Epoch() != 0 {
		t.Fatalf("before the module exists: %v", err)
	}
	_, err = r.Set(t.Context(), "crontab", plugins.Revision{Bytes: []byte("not wasm"), Digest: digestOf([]byte("not wasm"))})
	var refused *plugins.LoadError
	if !errors.As(err, &refused) || refused.Reason != plugins.NotWasm {
		t.Fatalf("not Wasm: %v", err)
	}
	if _, err = c.Convert(t.Context(), convtest.V1, in); !errors.As(err, &call) || !strings.Contains(call.Reason, "NotWasm") {
		t.Fatalf("after a refused first revision: %v", err)
	}
	if _, err = r.Set(t.Context(), "crontab", plugins.Revision{Bytes: module}); err == nil || errors.As(err, &refused) {
		t.Errorf("without a digest: %v", err)
	}
	good := set(t, r, "crontab", module)
	epoch := c.Epoch()
	if good.Digest() != digestOf(module) || good.ABI != 1 || good.Size != len(module) || !slices.Equal(good.Hooks, []plugins.Hook{plugins.Convert}) || good.Failure != nil {
		t.Errorf("status %+v", good)
	}
	for name, spec := range map[string]plugins.Revision{
		"garbage":       {Bytes: []byte("\x00asm\x01\x00\x00\x00\xff\xff")},
		"no hook":       {Bytes: plugintest.Echo("").Without(string(plugins.Convert)).Bytes()},
		"fails to boot": {Bytes: plugintest.Echo("").With("_initialize", plugintest.Func{Code: plugintest.Trap}).Bytes()},
		"config":        {Bytes: module, Digest: digestOf(module), Config: []byte("{}")},
	} {
		spec.Digest = digestOf(spec.Bytes)
		if _, err := r.Set(t.Context(), "crontab", spec); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
		s, _ := r.Status("crontab")
		if s.Digest() != good.Digest() || s.Failure != refused || s.FailedDigest != digestOf(spec.Bytes) {
			t.Errorf("%s: status %+v", name, s)
		}
		if _, err := c.Convert(t.Context(), convtest.V1, in); err != nil || c.Epoch() != epoch {
			t.Errorf("%s: the good revision: %v", name, err)
		}
	}
	if s := set(t, r, "crontab", module); s.Failure != nil || c.Epoch() != epoch {
		t.Errorf("set again: %+v", s)
	}
	set(t, r, "crontab", plugintest.Build(t, plugintest.Hostile))
	if c.Epoch() == epoch || c.Epoch() == 0 {
		t.Error("a new revision has the old epoch")
	}
	if set(t, r, "crontab", module); c.Epoch() == epoch {
		t.Error("what the revision in between converted passes for the work of the first one, which is back")
	}
	epoch = c.Epoch()
	if _, err := r.Set(t.Context(), "crontab", plugins.Revision{Bytes: module, Digest: digestOf(module), Limits: plugins.Limits{ResponseBytes: 1 << 20}}); err != nil || c.Epoch() != epoch {
		t.Errorf("other limits, which change no conversion: %v", err)
	}
	r.Remove("crontab")
	if _, err := c.Convert(t.Context(), convtest.V1, in); !errors.As(err, &call) || call.Kind != plugins.NotReady {
		t.Errorf("after Remove: %v", err)
	}
	if _, ok := r.Status("crontab"); ok {
		t.Error("a removed module has a status")
	}
}

// TestReplacingUnderLoad: calls never fail because a revision is replaced.
func TestReplacingUnderLoad(t *testing.T) {
	r := newRegistry(t)
	module := plugintest.Build(t, plugintest.CronTab)
	set(t, r, "crontab", module)
	c := r.Converter("crontab")
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				if _, err := c.Convert(context.Background(), convtest.V1, [][]byte{convtest.Object(1, convtest.V1beta1)}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range 6 {
		limits := plugins.Limits{ResponseBytes: int64(1<<20 + n)}
		if _, err := r.Set(t.Context(), "crontab", plugins.Revision{Bytes: module, Digest: digestOf(module), Limits: limits}); err != nil {
			t.Error(err)
		}
	}
	stop.Store(true)
	wg.Wait()
}

// A batch has more time than one object, and the error says how much.
func TestABatchHasMoreTime(t *testing.T) {
	r := alone(t)
	loops := plugintest.Echo("").With(string(plugins.Convert), plugintest.Hook(plugintest.Forever...))
	loops.Pages = 64 // room for the batch
	module := loops.Bytes()
	if _, err := r.Set(t.Context(), "loops", plugins.Revision{Bytes: module, Digest: digestOf(module), Limits: plugins.Limits{Timeout: 50 * time.Millisecond}}); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{1: "within 50ms", 250: "within 150ms"} {
		objects := make([][]byte, n)
		for i := range objects {
			objects[i] = convtest.Object(i, convtest.V1beta1)
		}
		if _, err := r.Converter("loops").Convert(t.Context(), convtest.V1, objects); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d objects: %v, want %q", n, err, want)
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	r := newRegistry(b)
	set(b, r, "crontab", plugintest.Build(b, plugintest.CronTab))
	c := r.Converter("crontab")
	for _, n := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("batch of %d", n), func(b *testing.B) {
			var in [][]byte
			for i := range n {
				o := convtest.Object(i, convtest.V1beta1)
				in = append(in, append(o[:len(o)-1], `,"pad":"`+strings.Repeat("x", 1200-len(o))+`"}`...))
			}
			for b.Loop() {
				if _, err := c.Convert(b.Context(), convtest.V1, in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/object")
		})
	}
}
