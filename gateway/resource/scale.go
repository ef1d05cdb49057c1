package resource

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
)

const (
	scaleKind       = "Scale"
	scaleAPIVersion = "autoscaling/v1"
)

// Scale returns the autoscaling/v1 Scale of an object whose JSON is data.
func (t Target) Scale(data []byte) ([]byte, error) {
	tree, _, err := object.Parse(data)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	scale, err := scaleOf(t.scalePaths(), tree)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return object.Encode(scale)
}

func (t Target) scalePaths() *crd.Scale {
	if s := t.Version.Subresources[t.Subresource]; s != nil {
		return s.Scale
	}
	return nil
}

func fieldsOf(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

func scaleOf(p *crd.Scale, tree map[string]any) (map[string]any, error) {
	replicas, found, err := unstructured.NestedInt64(tree, fieldsOf(p.SpecReplicasPath)...)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("the spec replicas field %q does not exist", p.SpecReplicasPath)
	}
	if replicas < 0 {
		return nil, fmt.Errorf("the spec replicas field %q cannot be negative", p.SpecReplicasPath)
	}
	status := map[string]any{}
	n, _, err := unstructured.NestedInt64(tree, fieldsOf(p.StatusReplicasPath)...)
	if err != nil {
		return nil, err
	}
	status["replicas"] = n
	if p.LabelSelectorPath != "" {
		s, found, err := unstructured.NestedString(tree, fieldsOf(p.LabelSelectorPath)...)
		if err != nil {
			return nil, err
		}
		if found {
			status["selector"] = s
		}
	}
	meta := map[string]any{}
	all, _ := tree["metadata"].(map[string]any)
	for _, k := range []string{"name", "namespace", "uid", revisionField, "creationTimestamp"} {
		if v, ok := all[k]; ok {
			meta[k] = v
		}
	}
	return map[string]any{
		"kind": scaleKind, "apiVersion": scaleAPIVersion, "metadata": meta,
		"spec": map[string]any{"replicas": replicas}, "status": status,
	}, nil
}

// UpdateScale replaces an object's scale (PUT of a Scale).
func (e *Engine) UpdateScale(ctx context.Context, t Target, body []byte, o WriteOptions) (*Written, error) {
	tree, _, err := object.Parse(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return e.writeScale(ctx, t, o, func(map[string]any) (map[string]any, error) { return tree, nil })
}

// PatchScale patches an object's scale.
func (e *Engine) PatchScale(ctx context.Context, t Target, kind types.PatchType, body []byte, o WriteOptions) (*Written, error) {
	apply, _, err := t.patcher(kind, body)
	if err != nil {
		return nil, err
	}
	return e.writeScale(ctx, t, o, apply)
}

// writeScale changes the scale of an object and writes the replicas back.
func (e *Engine) writeScale(ctx context.Context, t Target, o WriteOptions, f change) (*Written, error) {
	paths := t.scalePaths()
	w, err := e.write(ctx, t, o, false, func(old map[string]any) (map[string]any, error) {
		scale, err := scaleOf(paths, old)
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if scale, err = f(scale); err != nil {
			return nil, err
		}
		replicas, err := t.wantedReplicas(scale)
		if err != nil {
			return nil, err
		}
		meta, _ := scale["metadata"].(map[string]any)
		mine := old["metadata"].(map[string]any)
		mine[revisionField] = meta[revisionField]
		if mine[revisionField] == nil {
			delete(mine, revisionField)
		}
		return old, unstructured.SetNestedField(old, replicas, fieldsOf(paths.SpecReplicasPath)...)
	})
	if err != nil {
		return nil, err
	}
	w.Object, err = t.Scale(w.Object)
	return w, err
}

// wantedReplicas validates a Scale that a client sent.
func (t Target) wantedReplicas(scale map[string]any) (int64, error) {
	if kind, _ := scale["kind"].(string); kind != scaleKind {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("%s cannot be handled as a %s", kind, scaleKind))
	}
	if v, _ := scale["apiVersion"].(string); v != scaleAPIVersion {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", v, scaleAPIVersion))
	}
	meta, _ := scale["metadata"].(map[string]any)
	if name, _ := meta["name"].(string); name != t.Name {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, t.Name))
	}
	if ns, _ := meta["namespace"].(string); ns != "" && ns != t.Namespace {
		return 0, apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	replicas, _, err := unstructured.NestedInt64(scale, "spec", "replicas")
	if err != nil {
		return 0, apierrors.NewBadRequest(err.Error())
	}
	if replicas < 0 || replicas > 1<<31-1 {
		return 0, apierrors.NewInvalid(schema.GroupKind{Group: "autoscaling", Kind: scaleKind}, t.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), replicas, "must be between 0 and 2147483647"),
		})
	}
	return replicas, nil
}
