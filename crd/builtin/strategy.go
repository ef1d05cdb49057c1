package builtin

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/plan"
	"github.com/wasmgate/wasmgate/crd/schema"
)

// strategy is what the file of a kind says of writes, of the whole object or
// through one of its subresources.
type strategy struct {
	namespaced  bool
	kind        *dataKind
	subresource string
}

var _ crd.Strategy = &strategy{}

// Resets implements [crd.Strategy]. They are the same at all versions: a field at
// the top has one name.
func (s *strategy) Resets() map[fieldpath.APIVersion]*fieldpath.Set {
	set := &fieldpath.Set{}
	t := reflect.TypeOf(s.kind.fresh()).Elem()
	for _, name := range topFields(t) {
		if !s.kind.writes(s.subresource, name) {
			set.Insert(fieldpath.Path{{FieldName: &name}})
		}
	}
	if sub := s.kind.version.Subresources[s.subresource]; sub != nil {
		for _, path := range sub.Resets {
			set.Insert(pathOf(strings.Split(path, ".")))
		}
	}
	if set.Empty() {
		return nil
	}
	out := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, v := range s.kind.file.Versions {
		out[fieldpath.APIVersion(s.kind.file.GVK(v.Name).GroupVersion().String())] = set
	}
	return out
}

// pathOf is a path of field names.
func pathOf(names []string) (path fieldpath.Path) {
	for _, name := range names {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}

// Prepare implements [crd.Strategy].
func (s *strategy) Prepare(ctx context.Context, obj, old *unstructured.Unstructured) {
	if old == nil {
		s.prepareNew(ctx, content(obj))
	} else {
		s.prepareChange(content(obj), content(old))
	}
}

// content is the tree of an object, an empty one of what has none.
func content(obj *unstructured.Unstructured) map[string]any {
	if obj == nil || obj.Object == nil {
		return map[string]any{}
	}
	return obj.Object
}

// prepareNew sets what is not the client's to say.
func (s *strategy) prepareNew(ctx context.Context, tree map[string]any) {
	k := s.kind
	for path, v := range k.version.OnCreate {
		set(tree, strings.Split(path, "."), v)
	}
	k.dropGated(tree, nil)
	if len(k.file.Generation) > 0 && !k.file.LateGeneration {
		object.Ensure(tree, "metadata")["generation"] = int64(1)
	}
	if k.also.PrepareCreate != nil {
		k.also.PrepareCreate(ctx, tree)
	}
}

// prepareChange restores what the request cannot change, and counts the
// generation.
func (s *strategy) prepareChange(tree, was map[string]any) {
	k := s.kind
	both := maps.Clone(was)
	maps.Copy(both, tree)
	for name := range both {
		if !k.writes(s.subresource, name) {
			object.Keep(tree, was, name)
		}
	}
	k.dropGated(tree, was)
	if k.also.PrepareUpdate != nil {
		k.also.PrepareUpdate(s.subresource, tree, was)
	}
	s.count(tree, was)
	if sub := k.version.Subresources[s.subresource]; sub != nil {
		for _, name := range sub.KeptMetadata {
			object.Keep(object.Ensure(tree, "metadata"), object.Child(was, "metadata"), name)
		}
	}
}

func (s *strategy) count(tree, was map[string]any) {
	k := s.kind
	if len(k.file.Generation) == 0 {
		return
	}
	before, _ := object.Child(was, "metadata")["generation"].(int64)
	object.Keep(object.Ensure(tree, "metadata"), object.Child(was, "metadata"), "generation")
	for _, name := range k.file.Generation {
		// a subresource writes metadata, too, which counts for the whole alone
		if s.subresource != "" && strings.HasPrefix(name, "metadata.") {
			continue
		}
		if !reflect.DeepEqual(at(tree, name), at(was, name)) {
			object.Ensure(tree, "metadata")["generation"] = before + 1
			return
		}
	}
}

// at is what is at a path of field names, nil where that is nothing or empty.
func at(tree map[string]any, path string) any {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		tree = object.Child(tree, name)
	}
	v := tree[names[len(names)-1]]
	if m, ok := v.(map[string]any); ok && len(m) == 0 {
		return nil
	}
	return v
}

// Canonicalize implements [crd.Strategy].
func (s *strategy) Canonicalize(obj *unstructured.Unstructured) {
	if s.kind.also.Canonicalize != nil {
		s.kind.also.Canonicalize(content(obj))
	}
}

// Validate implements [crd.Strategy].
func (s *strategy) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	tree, was := content(obj), map[string]any(nil)
	if old != nil {
		was = content(old)
	}
	if errs := s.declared(ctx, tree, was, s.mistakes(ctx, tree, was)); len(errs) > 0 || s.kind.also.Warn == nil || s.subresource != "" {
		return crd.Verdict{Errors: errs, Unfinished: plan.Unasked(errs)}
	}
	return crd.Verdict{Warnings: s.kind.also.Warn(tree, was)}
}

// mistakes are what is wrong with the new state of an object; was is nil of one that is
// created.
func (s *strategy) mistakes(ctx context.Context, tree, was map[string]any) field.ErrorList {
	if all := s.kind.also.ValidateAll; all != nil {
		return all(s.subresource, tree, was)
	}
	if was == nil && s.kind.file.Question() {
		return s.validate(ctx, tree, nil) // what is kept nowhere may be called anything
	}
	m, o, errs := s.metadata(tree, was)
	if errs != nil {
		return errs
	}
	if was != nil {
		errs = validation.ValidateObjectMetaUpdate(m, o, extend.MetadataPath)
	}
	lenient := s.kind.file.LenientMetadata
	if sub := s.kind.version.Subresources[s.subresource]; sub != nil {
		lenient = lenient || sub.LenientMetadata
	}
	if name := cmp.Or(s.kind.file.NewName, s.kind.file.Name); s.subresource == "" && (was == nil || !lenient && s.kind.file.NewName == "") {
		errs = append(errs, validation.ValidateObjectMeta(m, s.namespaced, name.Check(), extend.MetadataPath)...)
	}
	if !lenient {
		errs = append(errs, extend.ValidateFinalizers(m)...)
	}
	return append(errs, s.validate(ctx, tree, was)...)
}

func (s *strategy) validate(ctx context.Context, tree, was map[string]any) field.ErrorList {
	plan, err := s.kind.plan()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	var errs field.ErrorList
	if s.subresource == "" {
		var kept []string
		if was != nil { // what is kept was judged when it was written, perhaps beside another spec
			kept = s.kind.version.Kept
		}
		errs = plan.Validate(ctx, tree, was, kept...)
	} else {
		for _, name := range topFields(reflect.TypeOf(s.kind.fresh()).Elem()) {
			if name != "metadata" && s.kind.writes(s.subresource, name) {
				errs = append(errs, plan.ValidateField(ctx, name, tree, was)...)
			}
		}
	}
	if s.kind.also.Validate != nil {
		errs = append(errs, s.kind.also.Validate(s.subresource, tree, was)...)
	}
	return errs
}

func (s *strategy) metadata(tree, was map[string]any) (m, o *metav1.ObjectMeta, errs field.ErrorList) {
	m, o = &metav1.ObjectMeta{}, &metav1.ObjectMeta{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Child(tree, "metadata"), m); err != nil {
		return nil, nil, field.ErrorList{field.InternalError(extend.MetadataPath, err)}
	}
	if was != nil {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Child(was, "metadata"), o); err != nil {
			return nil, nil, field.ErrorList{field.InternalError(extend.MetadataPath, err)}
		}
	}
	return m, o, nil
}

// dropGated drops fields behind gates that are off.
func (k *dataKind) dropGated(tree, was map[string]any) {
	for _, path := range k.version.Gated {
		parts := strings.Split(path, ".")
		if _, found, _ := unstructured.NestedFieldNoCopy(was, parts...); !found {
			unstructured.RemoveNestedField(tree, parts...)
		}
	}
	if plan, err := k.plan(); err == nil { // else validation says why
		plan.Drop(tree, was)
	}
}

// set puts a copy of v where path leads; nil takes away what is there.
func set(tree map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		tree = object.Ensure(tree, name)
	}
	last := path[len(path)-1]
	if v == nil {
		delete(tree, last)
		return
	}
	tree[last] = runtime.DeepCopyJSONValue(v)
}

// topFields are the fields of objects of Go type t.
func topFields(t reflect.Type) []string {
	var out []string
	for _, f := range schema.Fields(t) {
		out = append(out, f.Name)
	}
	return out
}
