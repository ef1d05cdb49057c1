package write

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// A namespace takes nothing new once its deletion is acknowledged, however far
// the cache is behind, and everything once its creation is.
func TestNamespacesComeAndGoAtOnce(t *testing.T) {
	w := newWorld(t)
	w.create(w.builtin("namespaces", "", ""), `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"space","finalizers":["example.com/held"]}}`)
	w.wait(w.revision())
	release := w.store.holdUp()
	defer release()
	if _, err := w.Delete(w.ctx(), w.builtin("namespaces", "", "space"), &metav1.DeleteOptions{}, resource.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := w.Create(w.ctx(), w.builtin("configmaps", "space", ""), []byte(configMap("late", "v")), resource.WriteOptions{})
	refused(t, err, 403, "Forbidden", `configmaps "late" is forbidden: unable to create new content in namespace space because it is being terminated`)
	w.create(w.builtin("namespaces", "", ""), `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"fresh"}}`)
	w.create(w.builtin("configmaps", "fresh", ""), configMap("early", "v"))
	release()
	w.wait(w.revision())
	_, err = w.Create(w.ctx(), w.builtin("configmaps", "space", ""), []byte(configMap("late", "v")), resource.WriteOptions{})
	refused(t, err, 403, "Forbidden", `configmaps "late" is forbidden: unable to create new content in namespace space because it is being terminated`)
}
