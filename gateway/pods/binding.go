package pods

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// binding puts a pod on a node.
type binding struct {
	as    As
	admit Admit
}

// Verb implements api.Question.
func (binding) Verb() string { return "create" }

// Answer implements api.Question.
func (b binding) Answer(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (*api.Response, error) {
	var wanted corev1.Binding
	if err := b.admit.sent(ctx, t, contentType, body, &wanted, "Binding", []schema.GroupVersion{corev1.SchemeGroupVersion}, o); err != nil {
		return nil, err
	}
	if wanted.Target.Name == "" || wanted.Target.Kind != "" && wanted.Target.Kind != "Node" {
		return nil, apierrors.NewBadRequest("the target of a binding is a Node that has a name")
	}
	objects := b.as(o.Caller)
	p, u, err := pod(ctx, objects, t)
	if err != nil {
		return nil, err
	}
	if err := bindable(&wanted, p); err != nil {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, t.Name, err)
	}
	if err := bind(u, &wanted); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if !o.DryRun {
		_, err = objects.Update(ctx, kind, "binding", u)
	}
	if err != nil {
		return nil, err
	}
	return done()
}

// bindable tells why a pod is not the one that is meant, or cannot be bound.
func bindable(wanted *corev1.Binding, p *corev1.Pod) error {
	switch {
	case wanted.UID != "" && wanted.UID != p.UID:
		//lint:ignore ST1005 as kube-apiserver says it
		return fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", wanted.UID, p.UID)
	case wanted.ResourceVersion != "" && wanted.ResourceVersion != p.ResourceVersion:
		//lint:ignore ST1005 as above
		return fmt.Errorf("Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", wanted.ResourceVersion, p.ResourceVersion)
	case p.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", p.Name)
	case p.Spec.NodeName != "":
		return fmt.Errorf("pod %s is already assigned to node %q", p.Name, p.Spec.NodeName)
	case len(p.Spec.SchedulingGates) > 0:
		return fmt.Errorf("pod %s has non-empty .spec.schedulingGates", p.Name)
	}
	return nil
}

// bind writes into a pod where it is to run.
func bind(u *unstructured.Unstructured, wanted *corev1.Binding) error {
	if len(wanted.Annotations) > 0 {
		all := u.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, wanted.Annotations)
		u.SetAnnotations(all)
	}
	if err := unstructured.SetNestedField(u.Object, wanted.Target.Name, "spec", "nodeName"); err != nil {
		return err
	}
	conditions, _, err := unstructured.NestedSlice(u.Object, "status", "conditions")
	if err != nil {
		return err
	}
	return unstructured.SetNestedSlice(u.Object, scheduled(conditions), "status", "conditions")
}

// scheduled are conditions of a pod that has a node: what a scheduler said
// before, that there was none, makes room.
func scheduled(conditions []any) []any {
	now := map[string]any{
		"type": string(corev1.PodScheduled), "status": "True", "lastTransitionTime": metav1.Now().UTC().Format("2006-01-02T15:04:05Z"),
	}
	for i, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == now["type"] {
			conditions[i] = now
			return conditions
		}
	}
	return append(conditions, now)
}
