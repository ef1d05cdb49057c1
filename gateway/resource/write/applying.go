package write

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
)

// Apply applies a configuration to an object, which it creates if there is none
// (server-side apply, KEP-555). config is only read.
func (e *Writer) Apply(ctx context.Context, t resource.Target, config map[string]any, o resource.WriteOptions) (*resource.Written, error) {
	if scales(t) != nil {
		return e.applyScale(ctx, t, config, o)
	}
	w, err := (&applying{config}).to(t, o, e)
	if err != nil {
		return nil, err
	}
	if t.Subresource == "" {
		w.exists = mayExist
	}
	return w.run(ctx)
}

// to is the write of what is applied to a target.
func (s *applying) to(t resource.Target, o resource.WriteOptions, e *Writer) (*Write, error) {
	strategy, err := updateStrategy(t)
	return &Write{request: request{Target: t, Options: o, strategy: strategy}, writer: e, source: s}, err
}

// reportRepeated treats fields that a configuration repeats as the options ask,
// once it is known to fit.
func reportRepeated(o resource.WriteOptions) error {
	for _, p := range o.Problems {
		switch o.FieldValidation {
		case metav1.FieldValidationIgnore:
		case metav1.FieldValidationStrict:
			return apierrors.NewBadRequest("error strict decoding YAML: " + p)
		default:
			o.AddWarning(p)
		}
	}
	return nil
}

// applying is the source of a state that a configuration is merged into.
type applying struct{ config map[string]any }

// decode implements [source]; it has been done at the edge.
func (*applying) decode(*request) error { return nil }

// size implements [source].
func (*applying) size() int { return 0 }

// change implements [source]: ownership decides what the configuration adds,
// changes and takes away.
func (s *applying) change(ctx context.Context, r *request, from *present) (n next, err error) {
	out, err := r.Resource.Owners.Apply(ctx, fieldChange(r, from, s.config, nil))
	if err != nil {
		return n, err
	}
	if err := reportRepeated(r.Options); err != nil {
		return n, err
	}
	merged := out.Tree
	if from.entry == nil && !r.Version.Native() {
		merged = withoutTimes(merged)
	}
	tree, err := mergedWell(r.Target, merged)
	if err != nil {
		return n, apierrors.NewBadRequest(err.Error())
	}
	if p := scales(r.Target); p != nil {
		if n.scaled, err = shownOf(p, tree, r.Name); err != nil {
			return n, err
		}
	}
	n.object, n.owners = asUnstructured(tree), decided(out)
	if err := sameName(r.Target, n.object.GetName()); err != nil {
		return n, err
	}
	if from.entry == nil {
		if uid := n.object.GetUID(); uid != "" {
			return n, apierrors.NewConflict(r.GroupResource(), r.Name,
				fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
		}
		n.object.SetResourceVersion("")
	}
	return n, rest.EnsureObjectNamespaceMatchesRequestNamespace(r.Namespace, n.object)
}

// withoutTimes is a new custom resource without the times that are the server's to say,
// which need not even be some.
func withoutTimes(merged map[string]any) map[string]any {
	meta, ok := merged["metadata"].(map[string]any)
	if !ok {
		return merged
	}
	meta = maps.Clone(meta)
	for _, name := range [...]string{"creationTimestamp", "deletionTimestamp"} {
		switch meta[name].(type) {
		case map[string]any, []any: // which no manager can own
		default:
			delete(meta, name)
		}
	}
	merged = maps.Clone(merged)
	merged["metadata"] = meta
	return merged
}

// mergedWell is what a configuration was merged into, well-formed. It may share all but
// its metadata with the present state, where the schema has nothing to change in it.
func mergedWell(t resource.Target, merged map[string]any) (map[string]any, error) {
	if t.Version.Shape.Canonical(merged) {
		tree := maps.Clone(merged)
		ownMetadata(tree)
		return tree, nil
	}
	tree := object.Clone(merged)
	return tree, t.Version.Shape.FromMerge(tree)
}

// shownOf is the reply to a Scale that was applied, which made tree. Without replicas,
// and with fewer than none, there is no Scale.
func shownOf(p *crd.Scale, tree map[string]any, name string) (*shownScales, error) {
	path := field.NewPath("spec", "replicas")
	wrong := field.Required(path, "nobody else says how many there are")
	shown, found, err := scale.Of(p, tree)
	if err != nil {
		replicas, _, _ := unstructured.NestedInt64(tree, scale.Fields(p)...)
		wrong = field.Invalid(path, replicas, err.Error())
	}
	if err != nil || !found {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: "autoscaling", Kind: scale.Kind}, name, field.ErrorList{wrong})
	}
	return &shownScales{now: shown, applied: true}, nil
}
