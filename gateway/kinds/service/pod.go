package service

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
)

// system are the priority classes that every cluster has.
var system = map[string]int64{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}

// pod gives a new pod its priority, which later writes may leave out, and what its
// runtime class says, and every pod the tolerations that say how long it stays on a
// node that nobody hears of.
func (a *Assigner) pod(ctx context.Context, w admission.Attributes, tree map[string]any) error {
	tree = object.Clone(tree)
	spec := child(tree, "spec")
	if spec == nil {
		return nil
	}
	tolerate(spec)
	if w.GetOperation() == admission.Update {
		old, err := w.GetOldObject(ctx)
		if err != nil {
			return err
		}
		for _, name := range []string{"priority", "preemptionPolicy"} {
			if was := child(old.Object, "spec")[name]; spec[name] == nil && was != nil {
				spec[name] = was
			}
		}
		return w.Replace(ctx, w.GetResource().Version, tree)
	}
	if err := a.runtimeClass(ctx, w, spec); err != nil {
		return err
	}
	class, err := a.priority(ctx, w, text(spec, "priorityClassName"))
	if err != nil {
		return err
	}
	if err := class.contradicted(w.GetObject().GetName(), spec); err != nil {
		return err
	}
	spec["priority"] = class.value
	if spec["preemptionPolicy"] == nil {
		spec["preemptionPolicy"] = class.preemption
	}
	if class.name != "" {
		spec["priorityClassName"] = class.name
	}
	return w.Replace(ctx, w.GetResource().Version, tree)
}

type priority struct {
	name       string
	value      int64
	preemption string
}

// contradicted refuses a pod that says otherwise than its class.
func (p priority) contradicted(name string, spec map[string]any) error {
	if n, ok := spec["priority"].(int64); ok && n != p.value {
		return apierrors.NewForbidden(pods, name, fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", n, p.value))
	}
	if said := text(spec, "preemptionPolicy"); said != "" && p.preemption != "" && said != p.preemption {
		return apierrors.NewForbidden(pods, name, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", said, p.preemption))
	}
	return nil
}

// priority looks a class up; without a name it is the default, if there is one.
func (a *Assigner) priority(ctx context.Context, w admission.Attributes, name string) (priority, error) {
	if value, ok := system[name]; ok {
		return priority{name, value, "PreemptLowerPriority"}, nil
	}
	if name != "" {
		class, err := a.objects.Get(ctx, priorityClasses, "", name)
		if apierrors.IsNotFound(err) {
			return priority{}, apierrors.NewForbidden(pods, w.GetObject().GetName(), fmt.Errorf("no PriorityClass with name %s was found", name))
		}
		if err != nil {
			return priority{}, err
		}
		return read(class), nil
	}
	all, err := a.objects.List(ctx, priorityClasses, "")
	if err != nil && !apierrors.IsNotFound(err) {
		return priority{}, err
	}
	out := priority{preemption: "PreemptLowerPriority"}
	for _, class := range all {
		if isDefault, _ := class.Object["globalDefault"].(bool); isDefault {
			if p := read(class); out.name == "" || p.value < out.value {
				out = p
			}
		}
	}
	return out, nil
}

func read(class *unstructured.Unstructured) priority {
	value, _ := class.Object["value"].(int64)
	return priority{class.GetName(), value, text(class.Object, "preemptionPolicy")}
}

// patience is how many seconds a pod stays on a node that is not ready.
const patience = 300

// tolerate adds the tolerations that pods have by default.
func tolerate(spec map[string]any) {
	list, _ := spec["tolerations"].([]any)
	for _, taint := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		if !tolerated(list, taint) {
			list = append(list, map[string]any{"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(patience)})
		}
	}
	spec["tolerations"] = list
}

func tolerated(list []any, taint string) bool {
	for _, t := range list {
		t, _ := t.(map[string]any)
		key, effect := text(t, "key"), text(t, "effect")
		if (key == taint || key == "") && (effect == "NoExecute" || effect == "") {
			return true
		}
	}
	return false
}
