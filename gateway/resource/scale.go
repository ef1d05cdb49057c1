package resource

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

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
	scale, found, err := scaleOf(t.scalePaths(), tree)
	if err == nil && !found {
		err = fmt.Errorf("the spec replicas field %q does not exist", t.scalePaths().SpecReplicasPath)
	}
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

// scaleOf is the Scale of an object. found tells whether the object says how
// many replicas it wants.
func scaleOf(p *crd.Scale, tree map[string]any) (scale map[string]any, found bool, err error) {
	replicas, found, err := unstructured.NestedInt64(tree, fieldsOf(p.SpecReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	if replicas < 0 {
		return nil, false, fmt.Errorf("the spec replicas field %q cannot be negative", p.SpecReplicasPath)
	}
	status := map[string]any{}
	n, _, err := unstructured.NestedInt64(tree, fieldsOf(p.StatusReplicasPath)...)
	if err != nil {
		return nil, false, err
	}
	status["replicas"] = n
	if p.LabelSelectorPath != "" {
		s, there, err := selectorText(tree, fieldsOf(p.LabelSelectorPath))
		if err != nil {
			return nil, false, err
		}
		if there {
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
	}, found, nil
}

// selectorText is the selector at a path as a Scale has it. Custom resources
// hold the text itself, built-in kinds a selector, or a map of labels.
func selectorText(tree map[string]any, path []string) (string, bool, error) {
	v, there, err := unstructured.NestedFieldNoCopy(tree, path...)
	selector, ok := v.(map[string]any)
	if err != nil || !there || !ok {
		return unstructured.NestedString(tree, path...)
	}
	for field := range selector {
		if field != "matchLabels" && field != "matchExpressions" {
			set, _, err := unstructured.NestedStringMap(tree, path...)
			return labels.SelectorFromSet(set).String(), true, err
		}
	}
	var typed metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(selector, &typed); err != nil {
		return "", false, err
	}
	out, err := metav1.LabelSelectorAsSelector(&typed)
	if err != nil {
		return "", false, err
	}
	return out.String(), true, nil
}

// UpdateScale replaces an object's scale (PUT of a Scale).
func (e *Engine) UpdateScale(ctx context.Context, t Target, body []byte, o WriteOptions) (*Written, error) {
	tree, _, err := object.Parse(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	// As for every typed kind, kind and version are known from the path.
	for field, value := range map[string]string{"kind": scaleKind, "apiVersion": scaleAPIVersion} {
		if tree[field] == nil || tree[field] == "" {
			tree[field] = value
		}
	}
	return e.scale(ctx, t, &scaling{apply: func(state) (map[string]any, error) { return tree, nil }}, o)
}

// PatchScale patches an object's scale.
func (e *Engine) PatchScale(ctx context.Context, t Target, kind types.PatchType, body []byte, o WriteOptions) (*Written, error) {
	apply, _, err := t.patcher(kind, body)
	if err != nil {
		return nil, err
	}
	return e.scale(ctx, t, &scaling{apply: apply}, o)
}

func (e *Engine) scale(ctx context.Context, t Target, s *scaling, o WriteOptions) (*Written, error) {
	w, err := e.update(ctx, t, s, o, false)
	if err != nil {
		return nil, err
	}
	w.Object, err = t.Scale(w.Object)
	return w, err
}

// scaling changes an object by way of its scale.
type scaling struct{ apply patch }

// decode implements [source]; it has been done.
func (*scaling) decode(*Write) error { return nil }

// change implements [source]: it changes the scale of the object and writes
// the replicas back. What the Scale says of uid and resourceVersion are
// conditions.
func (s *scaling) change(_ context.Context, w *Write) error {
	paths := w.scalePaths()
	scale, _, err := scaleOf(paths, w.old.Object)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	data, err := object.Encode(scale)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if scale, err = s.apply(state{data, scale}); err != nil {
		return err
	}
	replicas, err := w.wantedReplicas(scale)
	if err != nil {
		return err
	}
	w.object = asUnstructured(object.Clone(w.old.Object))
	wanted, _ := scale["metadata"].(map[string]any)
	if uid, _ := wanted["uid"].(string); uid != "" && uid != string(w.old.GetUID()) {
		return w.wrongUID(types.UID(uid), w.old.GetUID())
	}
	if rv, _ := wanted[revisionField].(string); rv != "" {
		w.object.SetResourceVersion(rv)
	}
	return unstructured.SetNestedField(w.object.Object, replicas, fieldsOf(paths.SpecReplicasPath)...)
}

// isScale refuses what says that it is no Scale.
func isScale(tree map[string]any) error {
	if kind, _ := tree["kind"].(string); kind != scaleKind {
		return apierrors.NewBadRequest(fmt.Sprintf("%s cannot be handled as a %s", kind, scaleKind))
	}
	if v, _ := tree["apiVersion"].(string); v != scaleAPIVersion {
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", v, scaleAPIVersion))
	}
	return nil
}

// wantedReplicas validates a Scale that a client sent.
func (t Target) wantedReplicas(scale map[string]any) (int64, error) {
	if err := isScale(scale); err != nil {
		return 0, err
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
	if replicas != int64(int32(replicas)) { // negative ones the object's strategy refuses
		return 0, apierrors.NewBadRequest(fmt.Sprintf("json: cannot unmarshal number %d into Go struct field ScaleSpec.spec.replicas of type int32", replicas))
	}
	return replicas, nil
}
