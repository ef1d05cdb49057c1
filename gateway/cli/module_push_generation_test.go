package cli

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// What a gateway says of a module as it was before tells nothing of what was uploaded.
func TestModulePush_WaitsForItsGeneration(t *testing.T) {
	g := newFakeGateway(t)
	before := servedStatus(digestOf([]byte("new")), "new")
	before["observedGeneration"] = 1
	g.mu.Lock()
	g.set(modulesPath+"/m", map[string]any{"apiVersion": "wasmgate.dev/v1", "kind": "WasmModule",
		"metadata": map[string]any{"name": "m", "generation": 2, "annotations": map[string]any{}},
		"spec":     map[string]any{"source": map[string]any{"upload": map[string]any{}}}, "status": before})
	g.mu.Unlock()
	g.watched = func() { // so what it said before was seen
		g.later(modulesPath+"/m", func(o map[string]any) {
			o["status"] = map[string]any{"observedGeneration": 2, "conditions": []any{cond(compiled, "False", "Broken", "it cannot start"), cond(ready, "False", "Broken", "")}}
		})
	}
	if out, err := g.push(t, "m", "new"); err == nil || !strings.Contains(err.Error(), "Broken: it cannot start") || out != "" {
		t.Errorf("%v\n%s", err, out)
	}
}

// stale answers gets with a module whose state never changes; its watches tell nothing.
type stale struct {
	dynamic.ResourceInterface
	module *unstructured.Unstructured
}

func (s stale) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	return s.module, nil
}

func (stale) Watch(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
	w := watch.NewFake()
	context.AfterFunc(ctx, w.Stop)
	return w, nil
}

// A gateway that refuses anew what it refused before writes nothing new: that is told after
// a while, and right away where the same content was uploaded again.
func TestModulePush_TellsOfTheSameRefusal(t *testing.T) {
	for digest, after := range map[string]time.Duration{"new": staleAfter, "old": 0} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
				"conditions": []any{cond(compiled, "False", "Broken", "it cannot start"), cond(ready, "False", "Broken", "")}}}}
			u.SetName("m")
			u.SetAnnotations(map[string]string{contentAnnotation: "old"})
			began := time.Now()
			obj, waits, err := (&pushCommand{}).awaitReady(ctx, stale{module: u}, u, digest)
			if obj != u || waits || err == nil || !strings.Contains(err.Error(), "Broken: it cannot start") {
				t.Errorf("%s: %v %v %v", digest, obj, waits, err)
			}
			if took := time.Since(began); took < after || took > after+time.Minute {
				t.Errorf("%s: told after %s", digest, took)
			}
		})
	}
}
