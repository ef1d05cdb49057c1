package quota_test

import (
	"context"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	quotas "github.com/wasmgate/wasmgate/gateway/kinds/quota"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

var limitRanges = schema.GroupResource{Resource: "limitranges"}

// in are the LimitRanges of a namespace, as the cache has them now. Several writes ask
// at once.
func in(t *testing.T, r *quotas.Ranges, e *realengine.Engine, namespace string) []*corev1.LimitRange {
	t.Helper()
	fresh(t, e)
	var all [4][]*corev1.LimitRange
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			var err error
			if all[i], err = r.In(namespace); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	for _, other := range all[1:] {
		if len(other) != len(all[0]) || len(other) > 0 && other[0] != all[0][0] {
			t.Fatalf("writers at the same time were told of %v and %v", all[0], other)
		}
	}
	return all[0]
}

// A LimitRange is read once for each change of it, whatever becomes of others.
func TestLimitRangesAreReadOnceForEachChange(t *testing.T) {
	e := realengine.Over(t, storagetest.NewMemory(), nil)
	r := quotas.NewRanges(e.Catalog)
	made := map[string]*unstructured.Unstructured{}
	for _, namespace := range []string{"one", "two"} {
		ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}
		if _, err := e.Create(t.Context(), gvr.Namespaces, ns); err != nil {
			t.Fatal(err)
		}
		if got := in(t, r, e, namespace); len(got) != 0 {
			t.Fatalf("there are %v", got)
		}
		l := tree(t, "LimitRange", "l", `,"spec":{"limits":[{"type":"Container","max":{"cpu":"1"}}]}`)
		l.SetNamespace(namespace)
		var err error
		if made[namespace], err = e.Create(t.Context(), limitRanges, l); err != nil {
			t.Fatal(err)
		}
	}
	one, two := in(t, r, e, "one"), in(t, r, e, "two")
	if len(one) != 1 || len(two) != 1 || one[0].Namespace != "one" || two[0].Namespace != "two" {
		t.Fatalf("%v, %v", one, two)
	}
	if err := unstructured.SetNestedSlice(made["one"].Object, []any{}, "spec", "limits"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), limitRanges, "", made["one"]); err != nil {
		t.Fatal(err)
	}
	changed, same := in(t, r, e, "one"), in(t, r, e, "two")
	if len(changed) != 1 || len(changed[0].Spec.Limits) != 0 {
		t.Errorf("after a change it is still %v", changed)
	}
	if same[0] != two[0] {
		t.Error("what did not change is read again")
	}
	if err := e.Delete(t.Context(), limitRanges, "one", "l", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := in(t, r, e, "one"); len(got) != 0 {
		t.Errorf("it is gone, and there is %v", got)
	}
}

// What cannot be read is told, in its namespace alone.
func TestUnreadableLimitRanges(t *testing.T) {
	store := storagetest.NewMemory()
	e := realengine.Over(t, store, nil)
	r := quotas.NewRanges(e.Catalog)
	if _, err := store.Create(context.Background(), e.Catalog.Snapshot().Resource(limitRanges).Key("one", "l"), []byte("no object"), 0); err != nil {
		t.Fatal(err)
	}
	fresh(t, e)
	if got, err := r.In("one"); err == nil {
		t.Errorf("it is %v", got)
	}
	if got, err := r.In("two"); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}
