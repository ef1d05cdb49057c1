package resource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource/patch"
)

// UpdateScale replaces an object's scale (PUT of a Scale).
func (e *Engine) UpdateScale(ctx context.Context, t Target, body []byte, o WriteOptions) (*Written, error) {
	s, unknown, err := readScale(body)
	if err == nil {
		err = o.report(slices.Concat(o.Problems, unknown))
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", scaleKind, "v1", scaleKind, err))
	}
	if err := isScale(s.Kind, s.APIVersion); err != nil {
		return nil, err
	}
	return e.scale(ctx, t, scalePut{s}, o)
}

// PatchScale patches an object's scale.
func (e *Engine) PatchScale(ctx context.Context, t Target, kind types.PatchType, body []byte, o WriteOptions) (*Written, error) {
	typed := func() runtime.Object { return &autoscalingv1.Scale{} }
	if !t.Version.Native() {
		typed = nil
	}
	apply, odd, err := patch.Decode(kind, body, typed)
	if errors.Is(err, patch.ErrUnsupported) {
		return nil, UnsupportedPatch(t)
	}
	if err != nil {
		return nil, err
	}
	return e.scale(ctx, t, scalePatch{apply, odd}, o)
}

func (e *Engine) scale(ctx context.Context, t Target, s scales, o WriteOptions) (*Written, error) {
	w, err := e.update(ctx, t, scaling{s}, o, false)
	if err != nil {
		return nil, err
	}
	// The version's schema may have dropped the replicas again.
	w.Object, _, err = t.readScale(w.Object)
	return w, err
}

// readScale reads a Scale as the Go type that it is for clients. As for every such
// type, kind and version are known from the path. unknown are the fields that it
// does not have, and those that are there twice.
func readScale(data []byte) (s *autoscalingv1.Scale, unknown []string, err error) {
	s = &autoscalingv1.Scale{}
	odd, err := kjson.UnmarshalStrict(data, s)
	for _, o := range odd {
		unknown = append(unknown, o.Error())
	}
	s.Kind, s.APIVersion = cmp.Or(s.Kind, scaleKind), cmp.Or(s.APIVersion, scaleAPIVersion)
	return s, unknown, err
}

// scales is where a new Scale comes from.
type scales interface {
	// scale returns it, given the present one. It warns of what is odd.
	scale(present map[string]any, o WriteOptions) (*autoscalingv1.Scale, error)
}

// scalePut is the Scale of a PUT.
type scalePut struct{ sent *autoscalingv1.Scale }

func (p scalePut) scale(map[string]any, WriteOptions) (*autoscalingv1.Scale, error) {
	return p.sent, nil
}

// scalePatch is a patch of the present Scale; odd is what its text repeats.
type scalePatch struct {
	apply patch.Patch
	odd   []string
}

func (p scalePatch) scale(present map[string]any, o WriteOptions) (*autoscalingv1.Scale, error) {
	data, err := object.Encode(present)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	tree, err := p.apply(patch.State{JSON: data, Tree: present})
	if err != nil {
		return nil, err
	}
	if data, err = object.Encode(tree); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	s, unknown, err := readScale(data)
	switch {
	case err != nil:
	case isScale(s.Kind, s.APIVersion) != nil:
		err = fmt.Errorf("no kind %q is registered for version %q", s.Kind, s.APIVersion)
	default:
		err = o.report(slices.Concat(p.odd, unknown))
	}
	if err != nil {
		return nil, patch.Invalid(data, err)
	}
	return s, nil
}

// scaling changes an object by way of its scale.
type scaling struct{ scales }

// decode implements [source]; it has been done.
func (scaling) decode(*Write) error { return nil }

// change implements [source]: it changes the scale of the object and writes
// the replicas back. What the Scale says of uid and resourceVersion are
// conditions.
func (s scaling) change(_ context.Context, w *Write) error {
	paths := w.scalePaths()
	present, _, err := scaleOf(paths, w.old.Object)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	wanted, err := s.scale(present, w.Options)
	if err != nil {
		return err
	}
	if err := w.whose(wanted.Name, wanted.Namespace); err != nil {
		return err
	}
	if uid := wanted.UID; uid != "" && uid != w.old.GetUID() {
		return w.wrongUID(uid, w.old.GetUID())
	}
	if err := w.validScale(wanted); err != nil {
		return err
	}
	sent, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	w.scales = &shownScales{now: sent}
	w.object = asUnstructured(object.Clone(w.old.Object))
	if wanted.ResourceVersion != "" {
		w.object.SetResourceVersion(wanted.ResourceVersion)
	}
	// Negative ones the object's strategy refuses.
	return unstructured.SetNestedField(w.object.Object, int64(wanted.Spec.Replicas), fieldsOf(paths.SpecReplicasPath)...)
}
