package recount

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// silent is a queue that nobody listens to.
type silent struct{}

func (silent) Add(controller.Key)                         {}
func (silent) AddAfter(controller.Key, time.Duration)     {}
func (silent) Follow(controller.Key, ...controller.Scope) {}

// Kinds that nobody serves, which quotas may name as many as they like, take no
// place among those that are followed.
func TestOnlyServedKindsAreFollowed(t *testing.T) {
	e := realengine.Start(t)
	create := func(gr schema.GroupResource, tree map[string]any) {
		t.Helper()
		if _, err := e.Create(t.Context(), gr, &unstructured.Unstructured{Object: tree}); err != nil {
			t.Fatal(err)
		}
	}
	create(gvr.Namespaces, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "work"}})
	create(gvr.Quotas, map[string]any{
		"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"name": "q", "namespace": "work"},
		"spec": map[string]any{"hard": map[string]any{"count/nothing.example.com": "1", "configmaps": "5", "count/deployments.apps": "2"}},
	})
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := New(e)
	if err := c.Reconcile(t.Context(), silent{}, controller.Key{GroupResource: gvr.Quotas, Namespace: "work", Name: "q"}); err != nil {
		t.Fatal(err)
	}
	got := c.kinds.from(0)
	slices.SortFunc(got, func(a, b schema.GroupResource) int { return len(a.Resource) - len(b.Resource) })
	if want := []schema.GroupResource{{Resource: "configmaps"}, {Group: "apps", Resource: "deployments"}}; !slices.Equal(got, want) {
		t.Errorf("followed are %v, want %v", got, want)
	}
}
