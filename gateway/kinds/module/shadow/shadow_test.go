package shadow_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/load"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/shadow"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

// runtime loads what does not say "bad", and is the store of contents, which
// are kept under themselves.
type runtime struct {
	mu     sync.Mutex
	loaded map[string]plugins.Revision // guarded by mu
	slow   bool                        // guarded by mu: nothing can be loaded yet
	absent atomic.Bool                 // no content is there
}

func (r *runtime) Set(_ context.Context, name string, rev plugins.Revision) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case strings.Contains(string(rev.Bytes), "bad"):
		return &plugins.LoadError{Module: name, Reason: plugins.MissingExport, Detail: "no alloc"}
	case r.slow:
		return &plugins.LoadError{Module: name, Reason: plugins.Slow, Detail: "it goes on"}
	}
	r.loaded[name] = rev
	return nil
}

func (r *runtime) Status(name string) (plugins.Status, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rev, ok := r.loaded[name]
	if !ok {
		return plugins.Status{}, false
	}
	return plugins.Status{Serving: &rev, Hooks: []plugins.Hook{plugins.Convert}}, true
}

func (r *runtime) Grant(string, []plugins.Grant) {}

func (r *runtime) Withdraw(name string, _ *plugins.LoadError) { r.Remove(name) }

func (r *runtime) Remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.loaded, name)
}

func (r *runtime) isSlow(slow bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slow = slow
}

func (r *runtime) Get(_ context.Context, digest string) ([]byte, error) {
	if r.absent.Load() {
		return nil, module.ErrNoContent
	}
	return []byte(digest), nil
}

func (r *runtime) Put(context.Context, []byte) error { return nil }
func (r *runtime) Digest(bytes []byte) string        { return string(bytes) }

// trials let one function be every trial.
type trials struct {
	mu    sync.Mutex
	begun []string // guarded by mu: what was tried
	one   func(ctx context.Context, told func(module.Part) error) error
}

func (t *trials) Compare(ctx context.Context, gr schema.GroupResource, now, next string, told func(module.Part) error) error {
	t.mu.Lock()
	t.begun = append(t.begun, gr.String()+" "+now+" "+next)
	t.mu.Unlock()
	return t.one(ctx, told)
}

func (t *trials) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.begun)
}

// world is a gateway in which crontabs convert with the module tabs, of which one
// revision serves and others have to be promoted.
type world struct {
	*controllertest.Objects
	*runtime
	*trials
	stop func()
}

// Get reads an object; contents are read by the runtime.
func (w world) Get(ctx context.Context, gr schema.GroupResource, namespace, name string) (*unstructured.Unstructured, error) {
	return w.Objects.Get(ctx, gr, namespace, name)
}

func in(t *testing.T, one func(ctx context.Context, told func(module.Part) error) error, test func(t *testing.T, w world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := world{controllertest.New(), &runtime{loaded: map[string]plugins.Revision{}}, &trials{one: one}, nil}
		controllertest.MustCreate(t, w.Objects, gvr.Definitions, map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "crontabs.example.com"},
			"spec": map[string]any{"group": "example.com", "names": map[string]any{"plural": "crontabs"},
				"conversion": map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"url": "wasm://tabs"}}}},
		})
		w.stop = w.start(t)
		defer w.stop()
		controllertest.MustCreate(t, w.Objects, gvr.Modules, map[string]any{
			"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule", "metadata": map[string]any{"name": "tabs"}, "spec": spec("good 1"),
		})
		synctest.Wait()
		test(t, w)
	})
}

func (w world) start(t *testing.T) (stop func()) {
	t.Helper()
	return controllertest.Start(t, w.Objects, load.New(w.Objects, w.runtime, w.runtime, trust.New(w.Objects)), shadow.New(w.Objects, w.runtime, w.runtime, w.trials))
}

func spec(bytes string) map[string]any {
	return map[string]any{"rollout": "Shadow", "source": map[string]any{"inline": base64.StdEncoding.EncodeToString([]byte(bytes))}}
}

// push asks for another revision.
func (w world) push(t *testing.T, bytes string) {
	t.Helper()
	controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = spec(bytes)
	})
}

// report is what the status says of the revision that waits, after a while.
func (w world) report(t *testing.T, after time.Duration) (digest string, r module.Report) {
	t.Helper()
	<-time.After(after)
	synctest.Wait()
	c, _, ok := module.CandidateOf(controllertest.MustGet(t, w.Objects, gvr.Modules, "", "tabs"), w.Digest)
	if ok && c.Report != nil {
		r = *c.Report
	}
	return c.Digest, r
}

// tells is a trial of which those parts are told.
func tells(parts ...module.Part) func(context.Context, func(module.Part) error) error {
	return func(_ context.Context, told func(module.Part) error) error {
		for _, part := range parts {
			if err := told(part); err != nil {
				return err
			}
		}
		return nil
	}
}

// endless is a trial that comes to an end only by what told replies.
func endless(part module.Part) func(context.Context, func(module.Part) error) error {
	return func(ctx context.Context, told func(module.Part) error) error {
		for controller.Pause(ctx, 10*time.Second) {
			if err := told(part); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
}

func TestACandidateIsTriedOnce(t *testing.T) {
	place := module.Place{Resource: "crontabs.example.com", From: "v1", To: "v2", Path: "spec", Change: module.Gone}
	one := module.Report{Conversions: 5, Different: 1, Differences: []module.Difference{{Place: place, Count: 1, Example: "one/two"}}}
	two := module.Report{Conversions: 2, Different: 1, Failed: 1, Differences: []module.Difference{{Place: place, Count: 1, Example: "one/three"}},
		Failures: []module.Failure{{Object: "crontabs.example.com one/four", From: "v1", To: "v2", Reason: "it cannot"}}}
	in(t, tells(module.Part{Report: one}, module.Part{Report: two}), func(t *testing.T, w world) {
		if begun := w.all(); begun != nil {
			t.Errorf("the first revision was tried: %q", begun)
		}
		w.push(t, "good 2")
		digest, r := w.report(t, time.Minute)
		if digest != "good 2" || r.State != module.Completed || r.Conversions != 7 || r.Different != 2 || r.Failed != 1 || r.Message != "conversions: 7, different: 2, failed: 1" {
			t.Errorf("%s: %+v", digest, r)
		}
		if want := []module.Difference{{Place: place, Count: 2, Example: "one/two"}}; !slices.Equal(r.Differences, want) || !slices.Equal(r.Failures, two.Failures) {
			t.Errorf("%+v", r)
		}
		if _, loaded := w.Status("tabs@candidate"); loaded {
			t.Error("the candidate is loaded still")
		}
		if got := w.all(); !slices.Equal(got, []string{"crontabs.example.com tabs tabs@candidate"}) {
			t.Errorf("tried: %q", got)
		}
	})
}

func TestACandidateThatCannotBeLoadedIsNotTried(t *testing.T) {
	in(t, tells(), func(t *testing.T, w world) {
		w.push(t, "bad")
		if _, r := w.report(t, time.Minute); r.State != module.Refused || r.Message != "MissingExport: no alloc" || w.all() != nil {
			t.Errorf("%+v, tried: %q", r, w.all())
		}
	})
}

// What keeps a trial from beginning is said, and what was missing may come.
func TestATrialThatCannotBeginSaysWhy(t *testing.T) {
	in(t, tells(module.Part{Report: module.Report{Conversions: 3}}), func(t *testing.T, w world) {
		w.absent.Store(true)
		controllertest.MustChange(t, w.Objects, gvr.Modules, "", "", "tabs", func(obj *unstructured.Unstructured) {
			obj.Object["spec"] = map[string]any{"rollout": "Shadow", "source": map[string]any{"upload": map[string]any{"digest": "good 2"}}}
		})
		if digest, r := w.report(t, time.Minute); digest != "good 2" || r.State != module.Running || r.Message != "it cannot be tried yet: no such content" {
			t.Errorf("%s: %+v", digest, r)
		}
		w.absent.Store(false)
		w.isSlow(true)
		if _, r := w.report(t, time.Minute); r.State != module.Running || !strings.Contains(r.Message, "it goes on") {
			t.Errorf("%+v", r)
		}
		w.isSlow(false)
		if _, r := w.report(t, time.Minute); r.State != module.Completed || r.Conversions != 3 {
			t.Errorf("%+v", r)
		}
	})
}

// A candidate that fails, and takes its time for each object, does not keep others
// waiting for as long as there are objects.
func TestATrialThatFailsIsBounded(t *testing.T) {
	in(t, endless(module.Part{Report: module.Report{Conversions: 1, Failed: 1}}), func(t *testing.T, w world) {
		w.push(t, "good 2")
		_, r := w.report(t, 10*time.Minute)
		if r.State != module.Stopped || r.Failed != 32 || len(r.Failures) != 0 || !strings.Contains(r.Message, "it was stopped 5m0s after the first failure, and the other objects were not tried") {
			t.Errorf("%+v", r)
		}
	})
	in(t, endless(module.Part{}), func(t *testing.T, w world) { // what serves hangs
		w.push(t, "good 2")
		_, r := w.report(t, 10*time.Minute)
		if r.State != module.Stopped || !strings.Contains(r.Message, "conversions: 0, different: 0, failed: 0; 32 fail with the present revision, so there was nothing to compare; it was stopped 5m0s") {
			t.Errorf("%+v", r)
		}
	})
	in(t, endless(module.Part{Report: module.Report{Conversions: 1}}), func(t *testing.T, w world) {
		w.push(t, "good 2")
		if _, r := w.report(t, time.Hour); r.State != module.Running || r.Conversions < 300 {
			t.Errorf("what does not fail is tried to the end: %+v", r)
		}
	})
}

// A trial whose other side serves no more says nothing of the candidate, and begins anew with
// what serves then.
func TestATrialEndsWithWhatServes(t *testing.T) {
	var w world
	in(t, func(_ context.Context, told func(module.Part) error) error {
		if err := told(module.Part{Report: module.Report{Conversions: 1}}); err != nil || len(w.all()) > 1 {
			return err
		}
		w.Remove("tabs") // as when it is revoked
		w.isSlow(true)
		return told(module.Part{})
	}, func(t *testing.T, begun world) {
		w = begun
		w.push(t, "good 2")
		if _, r := w.report(t, time.Minute); r.State != module.Running || len(w.all()) != 1 {
			t.Errorf("nothing serves: %+v, tried: %q", r, w.all())
		}
		w.isSlow(false)
		if err := w.Set(t.Context(), "tabs", plugins.Revision{Digest: "good 1", Bytes: []byte("good 1")}); err != nil {
			t.Fatal(err)
		}
		if _, r := w.report(t, time.Minute); r.State != module.Completed || r.Conversions != 1 || len(w.all()) != 2 {
			t.Errorf("%+v, tried: %q", r, w.all())
		}
	})
}

// A report is about one revision that serves, also where another one converts as well.
func TestATrialComparesWithOneRevision(t *testing.T) {
	var w world
	in(t, func(_ context.Context, told func(module.Part) error) error {
		one := module.Part{Report: module.Report{Conversions: 1}}
		if err := told(one); err != nil || len(w.all()) > 1 {
			return err
		}
		if err := w.Set(context.Background(), "tabs", plugins.Revision{Digest: "good 0", Bytes: []byte("good 0")}); err != nil {
			return err
		}
		return told(one)
	}, func(t *testing.T, begun world) {
		w = begun
		w.push(t, "good 2")
		if _, r := w.report(t, time.Minute); r.State != module.Completed || r.Conversions != 1 || len(w.all()) != 2 {
			t.Errorf("%+v, tried: %q", r, w.all())
		}
	})
}

// What keeps a trial from its end, and is nobody's failure, is told.
func TestATrialWithoutRoomSaysSo(t *testing.T) {
	in(t, func(context.Context, func(module.Part) error) error {
		return fmt.Errorf("m: %w", &plugins.CallError{Kind: plugins.NoRoom, Reason: "others take it"})
	}, func(t *testing.T, w world) {
		w.push(t, "good 2")
		_, r := w.report(t, time.Minute)
		if r.State != module.Running || !strings.HasPrefix(r.Message, "it cannot be tried yet: ") || !strings.Contains(r.Message, "others take it") {
			t.Errorf("%+v", r)
		}
	})
}

// A revision that does not end is not tried for each object: neither the one that
// waits, nor the one that serves.
func TestATrialOfWhatDoesNotEndIsStopped(t *testing.T) {
	for _, c := range []struct {
		part module.Report
		says string
	}{
		{module.Report{Conversions: 1, Failed: 1}, "conversions: 6, different: 0, failed: 5; it was stopped after 3 calls in a row that did not end within their time"},
		{module.Report{}, "conversions: 1, different: 0, failed: 0; 5 fail with the present revision, so there was nothing to compare; it was stopped after 3 calls in a row"},
	} {
		late := module.Part{Report: c.part, Late: true}
		well := module.Part{Report: module.Report{Conversions: 1}}
		in(t, tells(late, late, well, late, late, late, late), func(t *testing.T, w world) {
			w.push(t, "good 2")
			_, r := w.report(t, time.Minute)
			if r.State != module.Stopped || !strings.HasPrefix(r.Message, c.says) {
				t.Errorf("%+v, want %s", r, c.says)
			}
		})
	}
}

// A trial ends when its candidate waits no more, and the next one is tried.
func TestASupersededTrialEnds(t *testing.T) {
	in(t, endless(module.Part{Report: module.Report{Conversions: 1}}), func(t *testing.T, w world) {
		w.push(t, "good 2")
		if digest, r := w.report(t, time.Minute); digest != "good 2" || r.State != module.Running || r.Conversions == 0 {
			t.Errorf("%s: %+v", digest, r)
		}
		w.push(t, "good 3")
		if digest, r := w.report(t, time.Minute); digest != "good 3" || r.State != module.Running || len(w.all()) != 2 {
			t.Errorf("%s: %+v, tried: %q", digest, r, w.all())
		}
	})
}

// A cache that does not have the end of a trial yet makes no other of it.
func TestATrialThatEndedIsNotBegunAgain(t *testing.T) {
	var w world
	one := tells(module.Part{Report: module.Report{Conversions: 1}})
	in(t, func(ctx context.Context, told func(module.Part) error) error {
		w.Hold(gvr.Modules)
		return one(ctx, told)
	}, func(t *testing.T, begun world) {
		w = begun
		w.push(t, "good 2")
		<-time.After(time.Minute)
		synctest.Wait()
		if err := w.Fresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, r := w.report(t, time.Minute); r.State != module.Completed || len(w.all()) != 1 {
			t.Errorf("%+v, tried: %q", r, w.all())
		}
	})
}

// A conflict at the end costs another write, not another trial; one that does not
// end costs others no time.
func TestAReportIsWrittenDespiteConflicts(t *testing.T) {
	for conflicts, trials := range map[int]int{50: 1, 150: 2} {
		in(t, tells(module.Part{Report: module.Report{Conversions: 1}}), func(t *testing.T, w world) {
			left := conflicts
			w.Fail(func(op string, key controller.Key) error {
				if _, loaded := w.Status("tabs@candidate"); op == "update/status" && loaded && w.all() != nil && left > 0 {
					left--
					return apierrors.NewConflict(key.GroupResource, key.Name, errors.New("somebody was faster"))
				}
				return nil
			})
			w.push(t, "good 2")
			if _, r := w.report(t, time.Hour); r.State != module.Completed || left != 0 || len(w.all()) != trials {
				t.Errorf("%d conflicts: %+v, tried: %q", conflicts, r, w.all())
			}
		})
	}
}

// After a restart nothing is tried before there is something to compare with:
// where every conversion fails today, nothing can come out otherwise.
func TestATrialWaitsForWhatServes(t *testing.T) {
	in(t, endless(module.Part{Report: module.Report{Conversions: 1}}), func(t *testing.T, w world) {
		w.push(t, "good 2")
		w.report(t, time.Minute)
		w.stop()
		w.Remove("tabs")
		w.isSlow(true)
		w.one = tells(module.Part{Report: module.Report{Conversions: 3}})
		before := len(w.all())
		stop := w.start(t)
		defer stop()
		if _, r := w.report(t, time.Minute); r.State != module.Running || len(w.all()) != before {
			t.Errorf("nothing serves: %+v, tried: %q", r, w.all())
		}
		w.isSlow(false)
		if _, r := w.report(t, time.Minute); r.State != module.Completed || r.Conversions != 3 {
			t.Errorf("%+v", r)
		}
	})
}
