package write

import (
	"context"
	"fmt"
	"maps"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/patch"
	"github.com/wasmgate/wasmgate/gateway/resource/scale"
	"github.com/wasmgate/wasmgate/managedfields"
)

// Writes of a Scale are writes of the object that it is a form of.

// scales are the paths of the Scale that the target is; nil if it is none.
func scales(t resource.Target) *crd.Scale { return scale.Paths(t.Version, t.Subresource) }

// putScale replaces an object's scale (PUT of a Scale).
func putScale(body []byte, o resource.WriteOptions) (scaling, error) {
	sent, unknown, err := scale.Parse(body)
	if err == nil {
		err = o.Report(slices.Concat(o.Problems, unknown))
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", scale.Kind, "v1", scale.Kind, err))
	}
	if err := scale.Check(sent); err != nil {
		return nil, err
	}
	return func(map[string]any, resource.WriteOptions) (map[string]any, error) { return object.Clone(sent), nil }, nil
}

// patchScale patches an object's scale.
func patchScale(t resource.Target, kind types.PatchType, body []byte) (scaling, error) {
	typed := func() runtime.Object { return &autoscalingv1.Scale{} }
	if !t.Version.Native() {
		typed = nil
	}
	apply, odd, err := patch.Decode(kind, body, typed)
	if err != nil {
		return nil, err
	}
	return func(present map[string]any, o resource.WriteOptions) (map[string]any, error) {
		return patchedScale(apply, odd, present, o)
	}, nil
}

// patchedScale is what a patch makes of a Scale; odd is what its text repeats.
func patchedScale(apply patch.Patch, odd []string, present map[string]any, o resource.WriteOptions) (map[string]any, error) {
	data, err := object.Encode(present)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	tree, repeated, err := apply(patch.State{JSON: data, Tree: present})
	if err != nil {
		return nil, err
	}
	if data, err = object.EncodeTyped(tree); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	s, unknown, err := scale.Parse(data)
	switch {
	case err != nil:
	case scale.Check(s) != nil:
		err = fmt.Errorf("no kind %q is registered for version %q", s["kind"], s["apiVersion"])
	default:
		err = o.Report(slices.Concat(odd, repeated, unknown))
	}
	if err != nil {
		return nil, patch.Invalid(data, err)
	}
	return s, nil
}

// applyScale applies a configuration of an object's scale.
func (e *Writer) applyScale(ctx context.Context, t resource.Target, sent map[string]any, o resource.WriteOptions) (*resource.Written, error) {
	config, err := scaleConfig(t, sent)
	if err != nil {
		return nil, err
	}
	w, err := (&applying{config}).to(t, o, e)
	if err != nil {
		return nil, err
	}
	out, err := w.run(ctx)
	if err != nil {
		return nil, err
	}
	out.Object, err = scale.Text(scales(t), out.Object)
	return out, err
}

func (e *Writer) scale(ctx context.Context, t resource.Target, s scaling, o resource.WriteOptions) (*resource.Written, error) {
	w, err := e.update(ctx, request{Target: t, Options: o}, s)
	if err != nil {
		return nil, err
	}
	// The version's schema may have dropped the replicas again.
	w.Object, _, err = scale.Written(scales(t), w.Object)
	return w, err
}

// scaling changes an object by way of its scale: it makes a new Scale, given the
// present one. It warns of what is odd.
type scaling func(present map[string]any, o resource.WriteOptions) (map[string]any, error)

// decode implements [source]; it has been done.
func (scaling) decode(*request) error { return nil }

// size implements [source].
func (scaling) size() int { return 0 }

// change implements [source]: it changes the scale of the object and writes
// the replicas back. What the Scale says of uid and resourceVersion are
// conditions.
func (s scaling) change(_ context.Context, r *request, from *present) (n next, err error) {
	paths, old := scales(r.Target), from.object
	present, _, err := scale.Of(paths, old.Object)
	if err != nil {
		return n, apierrors.NewInternalError(err)
	}
	wanted, err := s(present, r.Options)
	if err != nil {
		return n, err
	}
	replicas, err := wantedReplicas(r.Target, wanted)
	if err != nil {
		return n, err
	}
	sent := asUnstructured(wanted)
	if uid := sent.GetUID(); uid != "" && uid != old.GetUID() {
		return n, wrongUID(r.Target, uid, old.GetUID())
	}
	if err := scale.Validate(paths, wanted, r.Name, r.Namespace); err != nil {
		return n, err
	}
	n.scaled = &shownScales{now: wanted}
	n.object = asUnstructured(object.Clone(old.Object))
	if given := sent.GetResourceVersion(); given != "" {
		n.object.SetResourceVersion(given)
	}
	return n, scale.Set(paths, n.object.Object, replicas) // negative ones the object's strategy refuses
}

// whose refuses a Scale of another object.
func whose(t resource.Target, name, namespace string) error {
	if err := sameName(t, name); err != nil {
		return err
	}
	if namespace != "" && t.Namespace != "" && namespace != t.Namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// wantedReplicas validates what a Scale says that is more than conditions.
func wantedReplicas(t resource.Target, s map[string]any) (int64, error) {
	if err := scale.Check(s); err != nil {
		return 0, err
	}
	meta, _ := s["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	if err := whose(t, name, namespace); err != nil {
		return 0, err
	}
	return scale.Replicas(s)
}

// scaleConfig is the configuration of the object that an applied Scale stands
// for.
func scaleConfig(t resource.Target, s map[string]any) (map[string]any, error) {
	if err := scale.Check(s); err != nil {
		return nil, err
	}
	if err := managedfields.CheckScale(s); err != nil {
		return nil, err
	}
	object.WholeIntegers(s)
	meta, _ := s["metadata"].(map[string]any)
	complete := map[string]any{"name": t.Name}
	maps.Copy(complete, meta)
	checked := maps.Clone(s)
	checked["metadata"] = complete
	replicas, err := wantedReplicas(t, checked)
	if err != nil {
		return nil, err
	}
	about := map[string]any{}
	config := map[string]any{
		"apiVersion": t.Resource.Def.APIVersion(t.Version.Name), "kind": t.Resource.Def.Kind, "metadata": about,
	}
	for _, k := range [...]string{resource.RevisionField, "uid", "managedFields"} { // conditions, and what no apply may carry
		if v, ok := meta[k]; ok {
			about[k] = v
		}
	}
	if _, found, err := unstructured.NestedInt64(s, "spec", "replicas"); err != nil || !found {
		return config, err
	}
	return config, scale.Set(scales(t), config, replicas)
}
