package flowcontrol

import (
	"context"
	"maps"
	"slices"
	"strconv"

	fcv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"

	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Objects are what is kept.
type Objects interface {
	client.Lister
	client.Creator
	client.Updater
	client.Deleter
}

// wanted is one object that every cluster has.
type wanted struct {
	name string
	spec map[string]any
	// must: it is as it is whatever its annotation says.
	must bool
}

// kept are the objects of both kinds, levels first, so that no schema lacks its level.
func kept() ([]schema.GroupResource, map[schema.GroupResource][]wanted, error) {
	all := map[schema.GroupResource][]wanted{}
	add := func(gr schema.GroupResource, o metav1.Object, must bool) error {
		tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err == nil {
			spec, _, _ := unstructured.NestedMap(tree, "spec")
			all[gr] = append(all[gr], wanted{o.GetName(), spec, must})
		}
		return err
	}
	for i, list := range [][]*fcv1.PriorityLevelConfiguration{bootstrap.MandatoryPriorityLevelConfigurations, bootstrap.SuggestedPriorityLevelConfigurations} {
		for _, o := range list {
			if err := add(gvr.PriorityLevels, o, i == 0); err != nil {
				return nil, nil, err
			}
		}
	}
	for i, list := range [][]*fcv1.FlowSchema{bootstrap.MandatoryFlowSchemas, bootstrap.SuggestedFlowSchemas} {
		for _, o := range list {
			if err := add(gvr.FlowSchemas, o, i == 0); err != nil {
				return nil, nil, err
			}
		}
	}
	return []schema.GroupResource{gvr.PriorityLevels, gvr.FlowSchemas}, all, nil
}

var kindOf = map[schema.GroupResource]string{gvr.PriorityLevels: "PriorityLevelConfiguration", gvr.FlowSchemas: "FlowSchema"}

// Keep makes the objects that every cluster has what they have to be: those that are
// mandatory always; those that are suggested where they are missing, or their annotation
// says so, or nobody has changed them. One that says that it is kept and is no longer
// suggested goes. Several gateways may do so at once.
func Keep(ctx context.Context, objects Objects) error {
	order, all, err := kept()
	if err != nil {
		return err
	}
	for _, gr := range order {
		there, err := objects.List(ctx, gr, "")
		if err != nil {
			return err
		}
		have := map[string]*unstructured.Unstructured{}
		for _, o := range there {
			have[o.GetName()] = o
		}
		for _, w := range all[gr] {
			if err := keep(ctx, objects, gr, w, have[w.name]); err != nil {
				return err
			}
			delete(have, w.name)
		}
		for name, o := range have {
			if o.GetAnnotations()[fcv1.AutoUpdateAnnotationKey] != "true" {
				continue
			}
			uid, version := o.GetUID(), o.GetResourceVersion()
			err := objects.Delete(ctx, gr, "", name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
			if gvr.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// keep makes one object what it has to be.
func keep(ctx context.Context, objects Objects, gr schema.GroupResource, w wanted, is *unstructured.Unstructured) error {
	if is == nil {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": fcv1.SchemeGroupVersion.String(), "kind": kindOf[gr], "spec": runtime.DeepCopyJSON(w.spec),
			"metadata": map[string]any{"name": w.name, "annotations": map[string]any{fcv1.AutoUpdateAnnotationKey: "true"}},
		}}
		_, err := objects.Create(ctx, gr, o)
		if apierrors.IsAlreadyExists(err) { // another gateway was first
			return nil
		}
		return err
	}
	annotation, follow := is.GetAnnotations()[fcv1.AutoUpdateAnnotationKey], w.must
	if !follow {
		if yes, err := strconv.ParseBool(annotation); err == nil {
			follow = yes
		} else { // nobody has said, or nothing that can be understood
			follow = is.GetGeneration() == 1
		}
	}
	says := strconv.FormatBool(follow)
	spec := gvr.Section(is, "spec")
	want := spec
	if follow {
		want = adjusted(gr, w, spec)
	}
	if annotation == says && equality.Semantic.DeepEqual(spec, want) {
		return nil
	}
	is.Object["spec"] = want
	annotations := maps.Clone(is.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[fcv1.AutoUpdateAnnotationKey] = says
	is.SetAnnotations(annotations)
	_, err := objects.Update(ctx, gr, "", is)
	return err
}

// adjusted is the specification that an object has to have. How much the level that
// is exempt has of its own, and lends, may be anybody's choice; what the kind fills in
// where nothing is said is no difference.
func adjusted(gr schema.GroupResource, w wanted, is map[string]any) map[string]any {
	out := runtime.DeepCopyJSON(w.spec)
	if gr == gvr.PriorityLevels && w.name == fcv1.PriorityLevelConfigurationNameExempt {
		if e, ok := is["exempt"].(map[string]any); ok {
			out["exempt"] = runtime.DeepCopyJSON(e)
		}
	}
	fill(out, is)
	return out
}

// fillable are the fields that the kinds fill in.
var fillable = []string{"lendablePercent", "nominalConcurrencyShares"}

// fill adds those to wanted that is has and wanted does not say.
func fill(wanted, is map[string]any) {
	for k, v := range is {
		mine, there := wanted[k]
		if !there && slices.Contains(fillable, k) {
			wanted[k] = v
		}
		a, ok := mine.(map[string]any)
		if b, too := v.(map[string]any); ok && too {
			fill(a, b)
		}
	}
}
