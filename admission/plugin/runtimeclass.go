package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

var runtimeClasses = schema.GroupResource{Group: "node.k8s.io", Resource: "runtimeclasses"}

// RuntimeClass completes the spec of a new pod by what its runtime class says: what
// running it costs besides its containers, and where it can run.
type RuntimeClass struct{ Classes Reader }

// Name implements [admission.Plugin].
func (RuntimeClass) Name() string { return order.RuntimeClass }

// Edits implements [admission.Editor].
func (RuntimeClass) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return o == admission.Create && gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (p RuntimeClass) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	refuse := func(format string, args ...any) error {
		return apierrors.NewForbidden(pods, a.GetObject().GetName(), fmt.Errorf(format, args...))
	}
	spec := object.Child(tree, "spec")
	name, named := spec["runtimeClassName"].(string)
	if !named && spec["overhead"] == nil {
		return false, nil // as most
	}
	class := &nodev1.RuntimeClass{}
	if named {
		if class, err = p.class(ctx, name); apierrors.IsNotFound(err) {
			return false, refuse("pod rejected: RuntimeClass %q not found", name)
		} else if err != nil {
			return false, err
		}
	}
	wanted := map[string]any{}
	for _, field := range []string{"overhead", "nodeSelector", "tolerations"} {
		if v := spec[field]; v != nil {
			wanted[field] = v
		}
	}
	var pod corev1.PodSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(wanted, &pod); err != nil {
		return false, apierrors.NewBadRequest(err.Error())
	}
	if err := schedule(class, &pod, refuse); err != nil || !named {
		return false, err
	}
	completed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod)
	if err != nil {
		return false, err
	}
	delete(completed, "containers")
	maps.Copy(spec, completed)
	return true, nil
}

// schedule gives a pod what its class says of where it runs and what it takes
// beside its containers, or refuses it.
func schedule(class *nodev1.RuntimeClass, pod *corev1.PodSpec, refuse func(format string, args ...any) error) error {
	switch {
	case class.Overhead == nil && pod.Overhead != nil:
		return refuse("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
	case class.Overhead != nil && len(pod.Overhead) > 0 && !apiequality.Semantic.DeepEqual(pod.Overhead, class.Overhead.PodFixed):
		return refuse("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
	case class.Overhead != nil:
		pod.Overhead = class.Overhead.PodFixed
	}
	if where := class.Scheduling; where != nil {
		if len(pod.Tolerations)+len(where.Tolerations) > mostTolerations {
			return refuse("pod rejected: it and its RuntimeClass have more than %d tolerations", mostTolerations)
		}
		for key, value := range where.NodeSelector {
			if has, ok := pod.NodeSelector[key]; ok && has != value {
				return refuse("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, has)
			}
		}
		if pod.NodeSelector == nil {
			pod.NodeSelector = map[string]string{}
		}
		maps.Copy(pod.NodeSelector, where.NodeSelector)
		pod.Tolerations = joined(pod.Tolerations, where.Tolerations)
	}
	return nil
}

// class is a runtime class, which may be too new for the cache.
func (p RuntimeClass) class(ctx context.Context, name string) (*nodev1.RuntimeClass, error) {
	found, err := p.Classes.Get(ctx, runtimeClasses, "", name)
	if apierrors.IsNotFound(err) {
		if err = p.Classes.Fresh(ctx); err == nil {
			found, err = p.Classes.Get(ctx, runtimeClasses, "", name)
		}
	}
	if err != nil {
		return nil, err
	}
	class := &nodev1.RuntimeClass{}
	return class, runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, class)
}

// mostTolerations is how many tolerations, of a pod and its class or its namespace, are
// compared, each with all others.
const mostTolerations = 2000

// joined are the tolerations of two lists, without those that another says, too; of
// those that are the same the first stays.
func joined(first, second []corev1.Toleration) (out []corev1.Toleration) {
	all := slices.Concat(first, second)
	for i, t := range all {
		said := slices.ContainsFunc(out, func(before corev1.Toleration) bool { return same(before, t) || includes(before, t) })
		if !said && !slices.ContainsFunc(all[i+1:], func(later corev1.Toleration) bool { return !same(later, t) && includes(later, t) }) {
			out = append(out, t)
		}
	}
	return out
}

func same(a, b corev1.Toleration) bool {
	seconds, others := a.TolerationSeconds, b.TolerationSeconds
	a.TolerationSeconds, b.TolerationSeconds = nil, nil
	return a == b && (seconds == nil) == (others == nil) && (seconds == nil || *seconds == *others)
}

// includes tells that a toleration tolerates all that another does, as far as
// kube-apiserver sees that.
func includes(a, b corev1.Toleration) bool {
	anything := a.Operator == corev1.TolerationOpExists
	if a.Key != b.Key && (a.Key != "" || !anything) || a.Effect != "" && a.Effect != b.Effect {
		return false
	}
	if a.Effect == corev1.TaintEffectNoExecute && a.TolerationSeconds != nil && (b.TolerationSeconds == nil || *b.TolerationSeconds > *a.TolerationSeconds) {
		return false
	}
	return anything || (a.Operator == "" || a.Operator == corev1.TolerationOpEqual) && b.Operator == corev1.TolerationOpEqual && a.Value == b.Value
}
