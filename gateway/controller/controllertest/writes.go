package controllertest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// crdCleanup is the finalizer that a definition gets when it is deleted.
const crdCleanup = "customresourcecleanup.apiextensions.k8s.io"

// Create creates an object like the engine does.
func (o *Objects) Create(_ context.Context, gr schema.GroupResource, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	key := controller.Key{GroupResource: gr, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if err := o.failure("create", key); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.served[gr]; !ok {
		return nil, apierrors.NewNotFound(gr, "")
	}
	if _, ok := o.stored[key]; ok {
		return nil, apierrors.NewAlreadyExists(gr, key.Name)
	}
	if key.Namespace != "" {
		ns, ok := o.cached[controller.Key{GroupResource: gvr.Namespaces, Name: key.Namespace}]
		if !ok {
			return nil, apierrors.NewNotFound(gvr.Namespaces, key.Namespace)
		}
		if ns.GetDeletionTimestamp() != nil {
			return nil, apierrors.NewForbidden(gr, key.Name, errors.New("the namespace is being terminated"))
		}
	}
	return o.createLocked(key, obj).DeepCopy(), nil
}

func (o *Objects) createLocked(key controller.Key, obj *unstructured.Unstructured) *unstructured.Unstructured {
	o.made[key] = obj.DeepCopy()
	obj = obj.DeepCopy()
	obj.SetUID(types.UID(fmt.Sprintf("uid-%d", o.revision+1)))
	obj.SetCreationTimestamp(metav1.Now())
	obj.SetGeneration(1)
	if key.GroupResource == gvr.Namespaces {
		obj.Object["spec"] = map[string]any{"finalizers": []any{"kubernetes"}}
		obj.Object["status"] = map[string]any{"phase": "Active"}
	}
	o.commitLocked(key, obj)
	return obj
}

// Replace puts another object, as the one of that name was created, in its place,
// as who deletes it, whatever finalizers it has, and creates it again.
func (o *Objects) Replace(key controller.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.commitLocked(key, nil)
	o.createLocked(key, o.made[key])
}

// Update writes an object through a subresource.
func (o *Objects) Update(_ context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	key := controller.Key{GroupResource: gr, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	op := "update"
	if subresource != "" {
		op += "/" + subresource
	}
	if err := o.failure(op, key); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	old, ok := o.stored[key]
	if !ok || obj.GetUID() != old.GetUID() {
		return nil, apierrors.NewNotFound(gr, key.Name)
	}
	if obj.GetResourceVersion() != old.GetResourceVersion() {
		return nil, apierrors.NewConflict(gr, key.Name, errors.New("the object has been modified"))
	}
	next := merged(gr, old, obj.DeepCopy(), subresource)
	o.foretold = append(o.foretold, foretold(next)...)
	if reflect.DeepEqual(next.Object, old.Object) {
		return next.DeepCopy(), nil
	}
	if next.GetDeletionTimestamp() != nil && !heldBack(gr, next) {
		o.commitLocked(key, nil)
		return next.DeepCopy(), nil
	}
	o.commitLocked(key, next)
	return next.DeepCopy(), nil
}

// merged is what a write through a subresource makes of old.
func merged(gr schema.GroupResource, old, obj *unstructured.Unstructured, subresource string) *unstructured.Unstructured {
	next := old.DeepCopy()
	switch subresource {
	case "status":
		next.Object["status"] = obj.Object["status"]
		if gr == gvr.Definitions {
			next.SetFinalizers(obj.GetFinalizers())
		}
	case "finalize":
		spec, _ := obj.Object["spec"].(map[string]any)
		next.Object["spec"].(map[string]any)["finalizers"] = spec["finalizers"]
	default:
		next = obj
		if status, ok := old.Object["status"]; ok {
			next.Object["status"] = status
		} else {
			delete(next.Object, "status")
		}
		next.SetDeletionTimestamp(old.GetDeletionTimestamp())
		next.SetGeneration(old.GetGeneration())
		if !reflect.DeepEqual(old.Object["spec"], next.Object["spec"]) {
			next.SetGeneration(old.GetGeneration() + 1)
		}
	}
	return next
}

// foretold are the conditions of an object that are of a generation that it has not.
func foretold(obj *unstructured.Unstructured) (types []string) {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		if of, _ := c["observedGeneration"].(int64); of > obj.GetGeneration() {
			types = append(types, fmt.Sprintf("%s %s: %v of generation %d", obj.GetKind(), obj.GetName(), c["type"], of))
		}
	}
	return types
}

// Delete deletes an object; finalizers are honoured.
func (o *Objects) Delete(ctx context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	o.mu.Lock()
	_, ok := o.served[gr]
	o.mu.Unlock()
	if !ok {
		return apierrors.NewNotFound(gr, name)
	}
	return o.remove(ctx, gr, namespace, name, opts)
}

func (o *Objects) remove(_ context.Context, gr schema.GroupResource, namespace, name string, opts metav1.DeleteOptions) error {
	key := controller.Key{GroupResource: gr, Namespace: namespace, Name: name}
	if err := o.failure("delete", key); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	obj, ok := o.stored[key]
	if !ok {
		return apierrors.NewNotFound(gr, name)
	}
	if err := meant(gr, obj, opts.Preconditions); err != nil {
		return err
	}
	before := obj
	obj = obj.DeepCopy()
	propagate(obj, opts.PropagationPolicy)
	if gr == gvr.Definitions && obj.GetDeletionTimestamp() == nil {
		obj.SetFinalizers(append(obj.GetFinalizers(), crdCleanup))
	}
	switch {
	case !heldBack(gr, obj):
		o.commitLocked(key, nil)
	case obj.GetDeletionTimestamp() == nil:
		now := metav1.Now()
		obj.SetDeletionTimestamp(&now)
		o.commitLocked(key, obj)
	case !slices.Equal(obj.GetFinalizers(), before.GetFinalizers()):
		o.commitLocked(key, obj)
	}
	return nil
}

// heldBack tells whether a finalizer keeps an object that is being deleted.
func heldBack(gr schema.GroupResource, obj *unstructured.Unstructured) bool {
	if len(obj.GetFinalizers()) > 0 {
		return true
	}
	spec, _, _ := unstructured.NestedSlice(obj.Object, "spec", "finalizers")
	return gr == gvr.Namespaces && len(spec) > 0
}

// Smuggle commits an object without looking at its namespace, as a request
// does that was let in before the namespace began to go.
func (o *Objects) Smuggle(gr schema.GroupResource, tree map[string]any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	obj := &unstructured.Unstructured{Object: tree}
	obj.SetUID(types.UID(fmt.Sprintf("uid-%d", o.revision+1)))
	o.commitLocked(controller.Key{GroupResource: gr, Namespace: obj.GetNamespace(), Name: obj.GetName()}, obj)
}
