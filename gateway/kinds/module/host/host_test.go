package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	modulelog "github.com/wasmgate/wasmgate/gateway/kinds/module/log"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/plugins"
	"github.com/wasmgate/wasmgate/plugins/plugintest"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/blob"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func newHost(t *testing.T, change func(c *Config)) (*Host, *storagetest.Memory) {
	t.Helper()
	store := storagetest.NewMemory()
	c := Config{CacheDir: filepath.Join(t.TempDir(), "cache"), Store: store, Root: "/blobs/", Metrics: metrics.New(), Lines: modulelog.New(), Calls: calls.New(), Log: zerolog.Nop()}
	if change != nil {
		change(&c)
	}
	h, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h, store
}

func revision() plugins.Revision {
	b := plugintest.Echo("{}").Bytes()
	return plugins.Revision{Bytes: b, Digest: blob.Digest(b)}
}

func TestSetAndRemove(t *testing.T) {
	h, _ := newHost(t, nil)
	rev := revision()
	if h.Known("tabs") {
		t.Error("known before it is set")
	}
	err := h.Set(t.Context(), "tabs", rev)
	s, known := h.Status("tabs")
	if err != nil || !known || s.Digest() != rev.Digest || s.Size != len(rev.Bytes) || s.ABI != 1 || !slices.Equal(s.Hooks, []plugins.Hook{plugins.Convert}) {
		t.Errorf("%+v, %v", s, err)
	}
	if !h.Known("tabs") {
		t.Error("not known")
	}
	// Every call asks twice, and what a status holds may be long.
	if n := testing.AllocsPerRun(100, func() { h.Known("tabs") }); n > 0 {
		t.Errorf("%v allocations to see whether a module is known", n)
	}
	var refused *plugins.LoadError
	if err := h.Set(t.Context(), "bad", plugins.Revision{Bytes: []byte("bad"), Digest: blob.Digest([]byte("bad"))}); !errors.As(err, &refused) {
		t.Errorf("no module at all: %v", err)
	}
	if err := h.Check("bad", []byte("bad")); !errors.As(err, &refused) {
		t.Errorf("no module at all: %v", err)
	}
	if err := h.Check("tabs", rev.Bytes); err != nil {
		t.Error(err)
	}
	h.metrics.Plugins.Call("tabs", "h", "success", 1)
	h.Remove("tabs")
	body, err := h.metrics.Render()
	if err != nil || strings.Contains(string(body), `module="tabs"`) || h.Known("tabs") {
		t.Errorf("after its removal: known %v, %v", h.Known("tabs"), err)
	}
}

// What calls spend, and what they cost, is in the metrics, of modules that there
// are.
func TestCallsAreMeasured(t *testing.T) {
	h, _ := newHost(t, nil)
	if err := h.Set(t.Context(), "tabs", revision()); err != nil {
		t.Fatal(err)
	}
	call := func(err error) {
		_ = h.registry.Call(t.Context(), "tabs", plugins.Convert, []byte("{}"), func([]byte) error { return err })
	}
	call(nil)
	call(errors.New("refused"))
	call(&plugins.CallError{Kind: plugins.OutOfFuel})
	h.observe("none", plugins.Convert, plugins.Usage{Fuel: 1}, errors.New("x"))
	body, err := h.metrics.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`wasmgate_plugin_memory_bytes{module="tabs"} 131072`,
		`wasmgate_plugin_discards_total{hook="wasmgate_convert",module="tabs",reason="BadReply"} 1`,
		`wasmgate_plugin_discards_total{hook="wasmgate_convert",module="tabs",reason="FuelExhausted"} 1`,
	} {
		if !strings.Contains(string(body), line+"\n") {
			t.Errorf("there is no %s in\n%s", line, body)
		}
	}
	if !strings.Contains(string(body), `wasmgate_plugin_fuel_total{hook="wasmgate_convert",module="tabs"}`) || strings.Contains(string(body), `"none"`) {
		t.Errorf("got\n%s", body)
	}
}

func TestSafeModeLoadsNothing(t *testing.T) {
	h, _ := newHost(t, func(c *Config) { c.SafeMode = true })
	if err := h.Set(t.Context(), "tabs", revision()); err == nil {
		t.Error("loaded")
	}
	if s, _ := h.Status("tabs"); s.Digest() != "" {
		t.Errorf("%+v", s)
	}
}

func TestContent(t *testing.T) {
	h, store := newHost(t, nil)
	c := h.Content()
	data := []byte("the bytes")
	digest := c.Digest(data)
	if _, err := c.Get(t.Context(), digest); !errors.Is(err, module.ErrNoContent) || !strings.Contains(err.Error(), digest) {
		t.Errorf("before it is put: %v", err)
	}
	if err := c.Put(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), digest); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := h.Blobs().GetBlob(t.Context(), digest); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the store has %s, %v", got, err)
	}
	h.Blobs().Limit(int64(len(data)))
	if err := c.Put(t.Context(), []byte("more")); !errors.Is(err, module.ErrNoRoom) || !errors.Is(err, blob.ErrQuota) {
		t.Errorf("over the quota: %v", err)
	}
	h.Blobs().Limit(0)
	// Damage is told from absence.
	page, err := store.Range(t.Context(), storage.Range{Prefix: "/blobs/"})
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range page.KVs {
		if _, err := store.Update(t.Context(), kv.Key, bytes.Replace(kv.Value, data, []byte("other one"), 1), kv.Revision, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Get(t.Context(), digest); !errors.Is(err, module.ErrContentDamaged) || errors.Is(err, module.ErrNoContent) {
		t.Errorf("damaged: %v", err)
	}
	store.Down(errors.New("out of order"))
	if _, err := c.Get(t.Context(), digest); err == nil || errors.Is(err, module.ErrNoContent) || errors.Is(err, module.ErrContentDamaged) {
		t.Errorf("a store that is down: %v", err)
	}
	if err := c.Put(t.Context(), []byte("more")); err == nil {
		t.Error("put into a store that is down")
	}
}

// listed are WasmModules, whose status has a digest when they served before.
type listed struct {
	digests map[string]string
	err     error
}

func (l listed) List(_ context.Context, gr schema.GroupResource, _ string) (all []*unstructured.Unstructured, err error) {
	for name, digest := range l.digests {
		all = append(all, &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": name}, "status": map[string]any{"digest": digest},
		}})
	}
	if gr != gvr.Modules {
		return nil, errors.New("not asked for")
	}
	return all, l.err
}

func (listed) Fresh(context.Context) error { return nil }

func TestAwaitLoaded(t *testing.T) {
	h, _ := newHost(t, nil)
	var log bytes.Buffer
	h.log = zerolog.New(&log)
	never := func(string) bool { return false }
	await := func(ctx context.Context, l listed) {
		t.Helper()
		ended := make(chan struct{})
		go func() { defer close(ended); h.AwaitLoaded(ctx, l, never) }()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatal("it waits for nothing")
		}
	}
	await(t.Context(), listed{digests: map[string]string{"new": ""}})
	await(t.Context(), listed{err: errors.New("no list")})
	if !strings.Contains(log.String(), "no list") || strings.Contains(log.String(), "not loaded in time") {
		t.Errorf("logged %s", log.String())
	}
	// One that is loaded, and one that is refused, are waited for; of the second
	// the revision before may be on its way.
	waited := make(chan struct{})
	var tried atomic.Bool
	go func() {
		defer close(waited)
		h.AwaitLoaded(context.Background(), listed{digests: map[string]string{"good": "x", "bad": "y"}}, func(name string) bool {
			return name == "bad" && tried.Load()
		})
	}()
	if err := h.Set(t.Context(), "good", revision()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-waited:
		t.Error("it does not wait for the second")
	case <-time.After(3 * loadPoll):
	}
	_ = h.Set(t.Context(), "bad", plugins.Revision{Bytes: []byte("bad"), Digest: blob.Digest([]byte("bad"))})
	select {
	case <-waited:
		t.Error("it does not wait for the revision before")
	case <-time.After(3 * loadPoll):
	}
	tried.Store(true)
	<-waited
	if strings.Contains(log.String(), "not loaded in time") {
		t.Errorf("logged %s", log.String())
	}
	ctx, cancel := context.WithTimeout(t.Context(), loadPoll)
	defer cancel()
	await(ctx, listed{digests: map[string]string{"never": "z"}})
	if !strings.Contains(log.String(), `"module":"never"`) {
		t.Errorf("logged %s", log.String())
	}
}

// The metrics tell which instances there are at the moment, of modules that
// there are.
func TestInstancesAreInTheMetrics(t *testing.T) {
	h, _ := newHost(t, func(c *Config) { c.IdleBytes = 1 << 20 })
	for _, name := range []string{"tabs", "gone"} {
		if err := h.Set(t.Context(), name, writing("hello")); err != nil {
			t.Fatal(err)
		}
	}
	h.Remove("gone")
	wants := func(idle, inUse, memory int) {
		t.Helper()
		body, err := h.metrics.Render()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			fmt.Sprintf(`wasmgate_plugin_instances{module="tabs",state="idle"} %d`, idle),
			fmt.Sprintf(`wasmgate_plugin_instances{module="tabs",state="in_use"} %d`, inUse),
			fmt.Sprintf(`wasmgate_plugin_instances_max{module="tabs"} %d`, max(2, runtime.GOMAXPROCS(0))),
			`wasmgate_plugin_given_back_total{module="tabs"} 0`,
		} {
			if !strings.Contains(string(body), want+"\n") {
				t.Errorf("no line %s in\n%s", want, body)
			}
		}
		if strings.Contains(string(body), "gone") {
			t.Error("a module that was removed is still told of")
		}
		// What the instance is restored from counts, too.
		if got := sample(t, body, `wasmgate_plugin_idle_memory_bytes{module="tabs"}`); got < memory || got > memory*5/4 {
			t.Errorf("%d bytes are idle, want %d and a few pages", got, memory)
		}
	}
	wants(1, 0, 128<<10)
	if _, err := h.Admit(nil)(t.Context(), "tabs", []byte("{}"), func([]byte) error {
		wants(0, 1, 0)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	wants(1, 0, 128<<10)
	h.registry.Remove("tabs")
	c := Config{CacheDir: filepath.Join(t.TempDir(), "cache"), Store: storagetest.NewMemory(), Root: "/", Metrics: h.metrics, Lines: modulelog.New(), Calls: calls.New(), Log: zerolog.Nop()}
	if second, err := New(t.Context(), c); err == nil || second != nil {
		t.Errorf("metrics of two hosts: %v", err)
	}
}

// told are calls that are not counted.
type told struct {
	*calls.Calls
	host *Host
	all  []string
}

// Begin notes what serves when it is told of another revision.
func (c *told) Begin(name, revision string) {
	status, _ := c.host.Status(name)
	c.all = append(c.all, name+" "+revision+" after "+status.Digest())
}

func (c *told) Forget(name string) { c.all = append(c.all, name+" is gone") }

// Who counts calls is told of a revision before its first call, and when there is
// none to be called any more.
func TestABeginningIsTold(t *testing.T) {
	c := &told{Calls: calls.New()}
	h, _ := newHost(t, func(config *Config) { config.Calls = c })
	c.host = h
	first, second := writing("one"), writing("two")
	broken := writing("three")
	broken.Bytes, broken.Digest = []byte("x"), "sha256:x"
	for _, rev := range []plugins.Revision{first, second} {
		if err := h.Set(t.Context(), "tabs", rev); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Set(t.Context(), "tabs", broken); err == nil {
		t.Error("it is no module")
	}
	h.Remove("tabs")
	want := []string{
		"tabs " + module.RevisionName(first) + " after ",
		"tabs " + module.RevisionName(second) + " after " + first.Digest,
		"tabs is gone",
	}
	if !slices.Equal(c.all, want) {
		t.Errorf("told of %q, want %q", c.all, want)
	}
}

// sample is the value of a metric.
func sample(t *testing.T, body []byte, series string) int {
	t.Helper()
	_, rest, found := strings.Cut(string(body), "\n"+series+" ")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(line, 64)
	if !found || err != nil {
		t.Fatalf("no %s in\n%s", series, body)
	}
	return int(n)
}

func TestNewFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	c := Config{CacheDir: filepath.Join(file, "\x00"), Store: storagetest.NewMemory(), Root: "/", Metrics: metrics.New(), Lines: modulelog.New(), Calls: calls.New(), Log: zerolog.Nop()}
	if h, err := New(t.Context(), c); err == nil || h != nil {
		t.Errorf("a folder that cannot be: %v", err)
	}
}

// writing is a module whose admission hook logs a line.
func writing(line string) plugins.Revision {
	g := plugintest.Echo(line)
	g.Imports = []plugintest.Import{{Module: plugins.ImportModule, Name: plugins.ImportLog, Params: []byte{plugintest.I32, plugintest.I32}}}
	code := plugintest.Join(plugintest.ConstI32(plugintest.DataAt), plugintest.ConstI32(int32(len(line))), plugintest.Call(0), plugintest.ConstI64(0))
	b := g.With(string(plugins.Admit), plugintest.Hook(code...)).With(string(plugins.Prioritize), plugintest.Hook(code...)).Bytes()
	return plugins.Revision{Bytes: b, Digest: blob.Digest(b)}
}

func TestWhatAModuleWritesIsKept_WP03(t *testing.T) {
	lines := modulelog.New()
	h, _ := newHost(t, func(c *Config) { c.Lines = lines })
	if err := h.Set(t.Context(), "tabs", writing("hello")); err != nil {
		t.Fatal(err)
	}
	accept := func([]byte) error { return nil }
	if _, err := h.Admit(nil)(t.Context(), "tabs", []byte("{}"), accept); err != nil {
		t.Fatal(err)
	}
	if err := h.Prioritize(t.Context(), "tabs", []byte("{}"), accept); err != nil {
		t.Fatal(err)
	}
	if got := lines.Text("tabs"); strings.Count(got, " hello\n") != 2 {
		t.Errorf("kept %q", got)
	}
	body, err := h.metrics.Render()
	if err != nil || !strings.Contains(string(body), `wasmgate_plugin_calls_total{hook="wasmgate_prioritize",module="tabs",result="success"} 1`) {
		t.Errorf("%v in %s", err, body)
	}
	if err := h.Prioritize(t.Context(), "none", []byte("{}"), accept); err == nil {
		t.Error("a module that is not there answered")
	}
	h.Remove("tabs")
	if got := lines.Text("tabs"); got != "" {
		t.Errorf("after its removal: %q", got)
	}
}
