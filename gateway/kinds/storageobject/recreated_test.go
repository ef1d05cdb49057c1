package storageobject

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
)

// late sees an object as it was.
type late struct {
	world
	was *unstructured.Unstructured
}

func (l late) Get(context.Context, schema.GroupResource, string, string) (*unstructured.Unstructured, error) {
	return l.was.DeepCopy(), nil
}

// Who still sees an object that was deleted takes nothing from another one of its name.
func TestAnotherObjectOfTheNameKeepsItsProtection(t *testing.T) {
	w := newWorld(t)
	const manifest = "metadata: {name: claim}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"
	key := controller.Key{GroupResource: Claims, Namespace: "default", Name: w.create(Claims, manifest).GetName()}
	if err := w.Delete(t.Context(), Claims, key.Namespace, key.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	was, err := w.Get(t.Context(), Claims, key.Namespace, key.Name)
	if err != nil || was.GetDeletionTimestamp() == nil {
		t.Fatalf("%v, %v", was, err)
	}
	if gone, _ := w.asked(key); !gone {
		t.Fatal("it is still there")
	}
	another := w.create(Claims, manifest)
	q := followed{}
	_ = NewController(late{w, was}, Claims).Reconcile(t.Context(), q, key) // which may be a conflict
	if err := w.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := w.Get(t.Context(), Claims, key.Namespace, key.Name)
	if err != nil || left.GetUID() != another.GetUID() || !slices.Equal(left.GetFinalizers(), another.GetFinalizers()) || len(left.GetFinalizers()) != 1 {
		t.Errorf("of %v is left %v, %v", another, left, err)
	}
}
