package storageobject

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/admissiontest"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
)

// followed is a queue that remembers what is followed.
type followed map[controller.Key][]controller.Scope

func (followed) Add(controller.Key)                                      {}
func (followed) AddAfter(controller.Key, time.Duration)                  {}
func (f followed) Follow(key controller.Key, scopes ...controller.Scope) { f[key] = scopes }

type world struct {
	*realengine.Engine
	t *testing.T
}

func newWorld(t *testing.T) world {
	w := world{realengine.With(t, func(*engine.Engine) admission.Chain {
		return admissiontest.Chain(t, plugin.StorageObjectInUseProtection{})
	}), t}
	w.create(schema.GroupResource{Resource: "namespaces"}, "metadata: {name: default}")
	return w
}

func (w world) create(gr schema.GroupResource, manifest string) *unstructured.Unstructured {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &obj.Object); err != nil {
		w.t.Fatal(err)
	}
	r := w.Catalog.Snapshot().Resource(gr)
	obj.SetGroupVersionKind(r.Def.GVK(r.Def.StorageVersion))
	if r.Def.Namespaced {
		obj.SetNamespace("default")
	}
	out, err := w.Create(w.t.Context(), gr, obj)
	if err != nil {
		w.t.Fatal(err)
	}
	if status, ok := obj.Object["status"]; ok {
		out.Object["status"] = status
		if out, err = w.Update(w.t.Context(), gr, "status", out); err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// deleted deletes an object, asks the controller once, and tells whether it is
// gone; if not, what it waits for.
func (w world) deleted(gr schema.GroupResource, obj *unstructured.Unstructured) (bool, []controller.Scope) {
	w.t.Helper()
	key := controller.Key{GroupResource: gr, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if err := w.Delete(w.t.Context(), gr, key.Namespace, key.Name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	return w.asked(key)
}

func (w world) asked(key controller.Key) (bool, []controller.Scope) {
	w.t.Helper()
	q := followed{}
	if err := w.Fresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	if err := NewController(w, key.GroupResource).Reconcile(w.t.Context(), q, key); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Fresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	_, err := w.Get(w.t.Context(), key.GroupResource, key.Namespace, key.Name)
	return err != nil, q[key]
}

const (
	claim  = "metadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	class  = "metadata: {name: fast}\ndriverName: disks.example.com\nparameters: {iops: '1'}\n"
	volume = "metadata: {name: disk}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}\n"
)

func pod(spec string) string {
	return "metadata: {name: web}\nspec:\n  containers: [{name: c, image: i}]\n" + spec
}

// Each kind gets its finalizer once, and goes at once if nobody uses it.
func TestUnusedGoesAtOnce(t *testing.T) {
	for gr, manifest := range map[schema.GroupResource]string{Claims: claim, Classes: class, Volumes: volume} {
		t.Run(gr.Resource, func(t *testing.T) {
			w := newWorld(t)
			obj := w.create(gr, manifest)
			if got := obj.GetFinalizers(); !slices.Equal(got, []string{protected[gr].finalizer}) {
				t.Errorf("finalizers %q", got)
			}
			if gone, _ := w.deleted(gr, obj); !gone {
				t.Error("it is held")
			}
		})
	}
}

// A finalizer of that name that the client sent is not given again, and those
// of others are kept, at the creation and when it is let go.
func TestFinalizersOfOthers(t *testing.T) {
	w := newWorld(t)
	obj := w.create(Claims, "metadata: {name: data, finalizers: [kubernetes.io/pvc-protection, example.com/hold]}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n")
	if got := obj.GetFinalizers(); len(got) != 2 {
		t.Errorf("finalizers %q", got)
	}
	if gone, _ := w.deleted(Claims, obj); gone {
		t.Fatal("it is gone with another's finalizer")
	}
	left, err := w.Get(t.Context(), Claims, "default", "data")
	if err != nil || !slices.Equal(left.GetFinalizers(), []string{"example.com/hold"}) {
		t.Errorf("left: %v, %v", left.GetFinalizers(), err)
	}
}

// blind are objects of which some cannot be listed.
type blind struct {
	world
	to schema.GroupResource
}

func (b blind) List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error) {
	if gr == b.to {
		return nil, errors.New("no list")
	}
	return b.world.List(ctx, gr, namespace)
}

// Where nobody can tell who uses an object it stays, and is looked at again.
func TestWhatMayBeUsedIsHeld(t *testing.T) {
	w := newWorld(t)
	obj := w.create(Claims, claim)
	if err := w.Delete(t.Context(), Claims, "default", obj.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	key := controller.Key{GroupResource: Claims, Namespace: "default", Name: obj.GetName()}
	if err := w.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := NewController(blind{w, pods}, Claims).Reconcile(t.Context(), followed{}, key); err == nil {
		t.Error("nothing is wrong")
	}
	if _, err := w.Get(t.Context(), Claims, "default", obj.GetName()); err != nil {
		t.Error(err)
	}
	if gone, _ := w.asked(key); !gone {
		t.Error("it stays when its users are known")
	}
}

// What is not being deleted keeps the finalizer.
func TestNothingIsLetGoBeforeItsDeletion(t *testing.T) {
	w := newWorld(t)
	w.create(Claims, claim)
	if gone, _ := w.asked(controller.Key{GroupResource: Claims, Namespace: "default", Name: "data"}); gone {
		t.Error("it is gone")
	}
	if obj, err := w.Get(t.Context(), Claims, "default", "data"); err != nil || len(obj.GetFinalizers()) != 1 {
		t.Errorf("%v, %v", obj, err)
	}
}

func TestUsedIsHeld(t *testing.T) {
	for name, c := range map[string]struct {
		gr, of   schema.GroupResource
		manifest string
		user     string
		held     bool
	}{
		"a claim by a pod on a node":       {Claims, pods, claim, pod("  nodeName: node\n  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"), true},
		"a claim by a pod that ended":      {Claims, pods, claim, pod("  nodeName: node\n  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\nstatus: {phase: Succeeded}"), true},
		"a claim by a pod without a node":  {Claims, pods, claim, pod("  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"), false},
		"another claim":                    {Claims, pods, claim, pod("  nodeName: node\n  volumes: [{name: v, persistentVolumeClaim: {claimName: other}}]"), false},
		"a claim that only sounds like it": {Claims, pods, "metadata: {name: web-v}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}", pod("  nodeName: node\n  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]"), false},
		"a class by a claim":               {Classes, Claims, class, "metadata: {name: data}\nspec: {volumeAttributesClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}", true},
		"a class that a claim still has":   {Classes, Claims, class, "metadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\nstatus: {currentVolumeAttributesClassName: fast}", true},
		"a class that a claim gets":        {Classes, Claims, class, "metadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\nstatus: {modifyVolumeStatus: {targetVolumeAttributesClassName: fast, status: Pending}}", true},
		"a class by a volume":              {Classes, Volumes, class, "metadata: {name: disk}\nspec: {volumeAttributesClassName: fast, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: d, volumeHandle: h}}", true},
		"another class":                    {Classes, Volumes, class, volume, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			obj := w.create(c.gr, c.manifest)
			user := w.create(c.of, c.user)
			gone, waits := w.deleted(c.gr, obj)
			if gone == c.held {
				t.Fatalf("gone: %t", gone)
			}
			if !c.held {
				return
			}
			if !slices.Contains(waits, controller.Scope{GroupResource: c.of, Namespace: obj.GetNamespace()}) {
				t.Errorf("it waits for %v", waits)
			}
			atOnce := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))} // no pod has time
			if err := w.Delete(t.Context(), c.of, user.GetNamespace(), user.GetName(), atOnce); err != nil {
				t.Fatal(err)
			}
			if c.of != pods {
				w.asked(controller.Key{GroupResource: c.of, Namespace: user.GetNamespace(), Name: user.GetName()})
			}
			if gone, _ := w.asked(controller.Key{GroupResource: c.gr, Namespace: obj.GetNamespace(), Name: obj.GetName()}); !gone {
				t.Error("it stays when nobody uses it any more")
			}
		})
	}
}

// The claim of a pod's own volume is held by the pod that it was made for.
func TestEphemeralVolume(t *testing.T) {
	w := newWorld(t)
	user := w.create(pods, pod("  nodeName: node\n  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]"))
	obj := w.create(Claims, "metadata: {name: web-v, ownerReferences: [{apiVersion: v1, kind: Pod, name: web, controller: true, uid: "+string(user.GetUID())+"}]}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}")
	if gone, _ := w.deleted(Claims, obj); gone {
		t.Error("it is gone before its pod")
	}
}

// A volume is held while a claim has it, which its status tells.
func TestBoundVolume(t *testing.T) {
	w := newWorld(t)
	obj := w.create(Volumes, volume+"status: {phase: Bound}\n")
	if gone, _ := w.deleted(Volumes, obj); gone {
		t.Fatal("it is gone while it is bound")
	}
	obj, err := w.Get(t.Context(), Volumes, "", "disk")
	if err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(obj.Object, "Released", "status", "phase"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Update(t.Context(), Volumes, "status", obj); err != nil {
		t.Fatal(err)
	}
	if gone, _ := w.asked(controller.Key{GroupResource: Volumes, Name: "disk"}); !gone {
		t.Error("it stays when it is released")
	}
}

// A claim is a pod's own if the pod controls it, and not if it is only among its owners.
func TestWhoseClaimsAre(t *testing.T) {
	yes, no := true, false
	pod := &unstructured.Unstructured{Object: map[string]any{}}
	pod.SetUID("p")
	for name, c := range map[string]struct {
		owners []metav1.OwnerReference
		want   bool
	}{
		"nobody's":      {nil, false},
		"the pod's":     {[]metav1.OwnerReference{{UID: "x"}, {UID: "p", Controller: &yes}}, true},
		"another's":     {[]metav1.OwnerReference{{UID: "x", Controller: &yes}}, false},
		"said to be no": {[]metav1.OwnerReference{{UID: "p", Controller: &no}}, false},
		"not said":      {[]metav1.OwnerReference{{UID: "p"}}, false},
	} {
		claim := &unstructured.Unstructured{Object: map[string]any{}}
		claim.SetOwnerReferences(c.owners)
		if got := controls(pod, claim); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
