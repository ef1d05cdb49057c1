package resource

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
)

// ApplyPatchType is the media type of a configuration to apply.
const ApplyPatchType = types.ApplyYAMLPatchType

// Apply applies a configuration to an object, which it creates if there is none
// (server-side apply, KEP-555). config is only read.
func (e *Engine) Apply(ctx context.Context, t Target, config map[string]any, o WriteOptions) (*Written, error) {
	if t.scales() != nil {
		return e.applyScale(ctx, t, config, o)
	}
	w, err := e.applies(t, &applying{config}, o)
	if err != nil {
		return nil, err
	}
	if t.Subresource == "" {
		w.exists = mayExist
	}
	return w.run(ctx)
}

func (e *Engine) applies(t Target, s *applying, o WriteOptions) (*Write, error) {
	strategy, err := t.updateStrategy()
	return &Write{Target: t, Options: o, engine: e, source: s, strategy: strategy}, err
}

// reportRepeated treats fields that a configuration repeats as the options ask,
// once it is known to fit.
func reportRepeated(o WriteOptions) error {
	for _, p := range o.Problems {
		switch o.FieldValidation {
		case validationIgnore:
		case validationStrict:
			return apierrors.NewBadRequest("error strict decoding YAML: " + p)
		default:
			o.warn(p)
		}
	}
	return nil
}

// applying is the source of a state that a configuration is merged into.
type applying struct{ config map[string]any }

// decode implements [source]; it has been done at the edge.
func (*applying) decode(*Write) error { return nil }

// change implements [source]: ownership decides what the configuration adds,
// changes and takes away.
func (s *applying) change(ctx context.Context, w *Write) error {
	out, err := w.Resource.Owners.Apply(ctx, w.fieldChange(s.config))
	if err != nil {
		return err
	}
	if err := reportRepeated(w.Options); err != nil {
		return err
	}
	tree := object.Clone(out.Tree) // which may share parts with the present state
	if err := w.Version.Shape.FromMerge(tree); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if p := w.scales(); p != nil {
		// The reply is a Scale; without replicas there is none.
		shown, found, err := scale.Of(p, tree)
		if w.scaled = (&shownScales{now: shown, applied: true}); err != nil || !found {
			return apierrors.NewInvalid(schema.GroupKind{Group: "autoscaling", Kind: scale.Kind}, w.Name, field.ErrorList{
				field.Required(field.NewPath("spec", "replicas"), "nobody else says how many there are"),
			})
		}
	}
	w.object = asUnstructured(tree)
	w.decided(out)
	if err := w.sameName(w.object.GetName()); err != nil {
		return err
	}
	if w.operation == admission.Create {
		if uid := w.object.GetUID(); uid != "" {
			return apierrors.NewConflict(w.GroupResource(), w.Name,
				fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
		}
		w.object.SetResourceVersion("")
	}
	return rest.EnsureObjectNamespaceMatchesRequestNamespace(w.Namespace, w.object)
}
