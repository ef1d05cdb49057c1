package plugin

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

var priorityClasses = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}

// systemPriorities are the classes that every cluster has.
var systemPriorities = map[string]int64{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}

// Priority gives a new pod the priority of its class, which later writes may leave out, and
// lets one class be the default.
type Priority struct{ Classes Reader }

// Name implements [admission.Plugin].
func (Priority) Name() string { return order.Priority }

// Edits implements [admission.Editor].
func (Priority) Edits(_ admission.Operation, gr schema.GroupResource, subresource string) bool {
	return gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (p Priority) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	spec := object.Child(tree, "spec")
	switch {
	case spec == nil:
		return false, nil
	case a.GetOperation() == admission.Update:
		return inheritPriority(ctx, a, spec)
	}
	class, err := p.class(ctx, a, object.TextAt(spec, "priorityClassName"))
	if err == nil {
		err = class.contradicted(a.GetObject().GetName(), spec)
	}
	if err != nil {
		return false, err
	}
	spec["priority"] = class.value
	if spec["preemptionPolicy"] == nil {
		spec["preemptionPolicy"] = class.preemption
	}
	if class.name != "" {
		spec["priorityClassName"] = class.name
	}
	return true, nil
}

func inheritPriority(ctx context.Context, a admission.Attributes, spec map[string]any) (changed bool, err error) {
	old, err := a.GetOldObject(ctx)
	if err != nil {
		return false, err
	}
	for _, name := range []string{"priority", "preemptionPolicy"} {
		if was := object.Child(old.Object, "spec")[name]; spec[name] == nil && was != nil {
			spec[name], changed = was, true
		}
	}
	return changed, nil
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
	if said := object.TextAt(spec, "preemptionPolicy"); said != "" && p.preemption != "" && said != p.preemption {
		return apierrors.NewForbidden(pods, name, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", said, p.preemption))
	}
	return nil
}

// class looks a class up; without a name it is the default, if there is one.
func (p Priority) class(ctx context.Context, a admission.Attributes, name string) (priority, error) {
	if value, ok := systemPriorities[name]; ok {
		return priority{name, value, "PreemptLowerPriority"}, nil
	}
	if name != "" {
		class, err := p.Classes.Get(ctx, priorityClasses, "", name)
		if apierrors.IsNotFound(err) {
			return priority{}, apierrors.NewForbidden(pods, a.GetObject().GetName(), fmt.Errorf("no PriorityClass with name %s was found", name))
		}
		if err != nil {
			return priority{}, err
		}
		return priorityOf(class), nil
	}
	usual, err := p.usual(ctx)
	if err == nil && usual.name == "" {
		usual.preemption = "PreemptLowerPriority"
	}
	return usual, err
}

// usual is the default class, of several the lowest; one without a name is none.
func (p Priority) usual(ctx context.Context) (out priority, err error) {
	all, err := p.Classes.List(ctx, priorityClasses, "")
	if err != nil && !apierrors.IsNotFound(err) {
		return priority{}, err
	}
	for _, class := range all {
		if isUsual(class) {
			if c := priorityOf(class); out.name == "" || c.value < out.value {
				out = c
			}
		}
	}
	return out, nil
}

func isUsual(class *unstructured.Unstructured) bool {
	is, _ := class.Object["globalDefault"].(bool)
	return is
}

// Validate implements [admission.Validator]: a class is not made the default beside another.
// One that is there beside another already, as two gateways may make them at a time, can be
// changed and go.
func (p Priority) Validate(ctx context.Context, a admission.Attributes) error {
	class, operation := a.GetObject(), a.GetOperation()
	if a.GetResource().GroupResource() != priorityClasses || a.GetSubresource() != "" || operation != admission.Create && operation != admission.Update || !isUsual(class) {
		return nil
	}
	if old, err := a.GetOldObject(ctx); err != nil || old != nil && isUsual(old) {
		return err
	}
	if err := p.Classes.Fresh(ctx); err != nil { // what was marked a moment ago counts
		return err
	}
	usual, err := p.usual(ctx)
	if err != nil || usual.name == "" {
		return err
	}
	return apierrors.NewForbidden(priorityClasses, class.GetName(), fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", usual.name))
}

func priorityOf(class *unstructured.Unstructured) priority {
	value, _ := class.Object["value"].(int64)
	return priority{class.GetName(), value, object.TextAt(class.Object, "preemptionPolicy")}
}
