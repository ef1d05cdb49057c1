package pod

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// binding puts a pod on a node: the pod of the target, or where the target has no
// name that of the binding's.
type binding struct {
	as    As
	judge Judge
}

// answer is an [Answer].
func (b binding) answer(ctx context.Context, t resource.Target, contentType string, data []byte, o resource.WriteOptions) (any, error) {
	var wanted corev1.Binding
	sent := body{contentType: contentType, data: data, kind: "Binding", versions: []schema.GroupVersion{corev1.SchemeGroupVersion}, keeps: true, validate: func() error {
		if wanted.Target.Name == "" || wanted.Target.Kind != "" && wanted.Target.Kind != "Node" {
			return apierrors.NewBadRequest("the target of a binding is a Node that has a name")
		}
		return nil
	}}
	if err := sent.read(ctx, b.judge, t, &wanted, o); err != nil {
		return nil, err
	}
	name := wanted.Name
	bind := resource.Edit{DryRun: o.DryRun, Change: func(u *unstructured.Unstructured) error {
		p, err := typed(u)
		if err != nil {
			return err
		}
		if err := bindable(p); err != nil {
			return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, name, err)
		}
		return bind(u, &wanted)
	}}
	if wanted.UID != "" {
		bind.Meant.UID = &wanted.UID
	}
	if wanted.ResourceVersion != "" {
		bind.Meant.ResourceVersion = &wanted.ResourceVersion
	}
	if _, err := b.as(o.Caller).Edit(ctx, kind, "binding", t.Namespace, name, bind); err != nil {
		return nil, err
	}
	return done, nil
}

// bindable tells why a pod cannot be bound.
func bindable(p *corev1.Pod) error {
	switch {
	case p.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", p.Name)
	case p.Spec.NodeName != "":
		return fmt.Errorf("pod %s is already assigned to node %q", p.Name, p.Spec.NodeName)
	case len(p.Spec.SchedulingGates) > 0:
		return fmt.Errorf("pod %s has non-empty .spec.schedulingGates", p.Name)
	}
	return nil
}

// bind writes into a pod where it is to run. What a scheduler said before, that
// there was no node, or which one it hoped for, makes room.
func bind(u *unstructured.Unstructured, wanted *corev1.Binding) error {
	u.SetAnnotations(with(u.GetAnnotations(), wanted.Annotations))
	u.SetLabels(with(u.GetLabels(), wanted.Labels))
	if err := unstructured.SetNestedField(u.Object, wanted.Target.Name, "spec", "nodeName"); err != nil {
		return apierrors.NewInternalError(err)
	}
	unstructured.RemoveNestedField(u.Object, "status", "nominatedNodeName")
	return condition(u, corev1.PodCondition{Type: corev1.PodScheduled, LastProbeTime: metav1.Time{}})
}

// with is what there is and what is added, which counts more.
func with(is, added map[string]string) map[string]string {
	if len(added) == 0 {
		return is
	}
	out := maps.Clone(is)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, added)
	return out
}
