package storageobject

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Of what is being deleted goes what nobody uses and nothing else: what somebody uses of
// whom the cache does not know yet, and what was made again under the same name, keep
// their protection.
func TestProtectionWhateverHappens(t *testing.T) {
	for gr, use := range map[schema.GroupResource]func(*testing.T, *controllertest.Objects){
		Claims: func(t *testing.T, o *controllertest.Objects) {
			controllertest.MustCreate(t, o, pods, map[string]any{"metadata": map[string]any{"namespace": "work", "name": "web"}, "spec": map[string]any{
				"nodeName": "n", "volumes": []any{map[string]any{"name": "v", "persistentVolumeClaim": map[string]any{"claimName": "used"}}},
			}})
		},
		Classes: func(t *testing.T, o *controllertest.Objects) {
			controllertest.MustCreate(t, o, Volumes, map[string]any{"metadata": map[string]any{"name": "disk"}, "spec": map[string]any{"volumeAttributesClassName": "used"}})
		},
		Volumes: func(t *testing.T, o *controllertest.Objects) {
			controllertest.MustChange(t, o, Volumes, "status", "", "used", func(v *unstructured.Unstructured) { v.Object["status"] = map[string]any{"phase": "Bound"} })
		},
	} {
		t.Run(gr.Resource, func(t *testing.T) { protection(gr, use).Tell(t) })
	}
}

// protection is the story of a kind; use has somebody use the object that is called used.
func protection(gr schema.GroupResource, use func(*testing.T, *controllertest.Objects)) controllertest.Story {
	key := func(name string) controller.Key {
		if gr == Claims {
			return controller.Key{GroupResource: gr, Namespace: "work", Name: name}
		}
		return controller.Key{GroupResource: gr, Name: name}
	}
	var renewed *controllertest.Objects // where the unused one was made again
	return controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New(
				&crd.Definition{Plural: Claims.Resource, Kind: "PersistentVolumeClaim", StorageVersion: "v1", KeyPrefix: Claims.Resource, Namespaced: true},
				&crd.Definition{Plural: Volumes.Resource, Kind: "PersistentVolume", StorageVersion: "v1", KeyPrefix: Volumes.Resource},
				&crd.Definition{Group: Classes.Group, Plural: Classes.Resource, Kind: "VolumeAttributesClass", StorageVersion: "v1", KeyPrefix: Classes.Resource},
			)
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
			for _, name := range []string{"unused", "used", "stays"} {
				k := key(name)
				controllertest.MustCreate(t, o, gr, controllertest.ObjectTree(k.Namespace, name, protected[gr].finalizer))
				if name == "stays" {
					continue
				}
				if err := o.Delete(t.Context(), gr, k.Namespace, name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			for user := range protected[gr].users { // of whom nobody knows before the cache has caught up
				o.Hold(user)
			}
			use(t, o)
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{NewController(s, gr)}
		},
		Main:  key("unused"),
		Again: func(_ *testing.T, o *controllertest.Objects) { renewed = o },
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			all, err := o.List(t.Context(), gr, "")
			if err != nil {
				t.Error(err)
			}
			var left []string
			for _, obj := range all {
				if obj.GetName() == "unused" && renewed == o {
					renewed = nil
					if !slices.Equal(obj.GetFinalizers(), []string{protected[gr].finalizer}) || obj.GetDeletionTimestamp() != nil {
						return "what was made again lost its protection"
					}
					continue
				}
				left = append(left, obj.GetName())
			}
			if renewed == o {
				return "what was made again is gone"
			}
			return fmt.Sprint(left)
		},
		Want: "[stays used]",
	}
}
