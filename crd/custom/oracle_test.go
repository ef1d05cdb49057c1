package custom

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// byLibrary is what apply has to be equal to: the library's steps, each of
// them taken always. It returns the paths that were dropped.
func byLibrary(s *shape, obj map[string]any, m mode) ([]string, error) {
	kind, _, err := unstructured.NestedString(obj, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, _, err := unstructured.NestedString(obj, "apiVersion")
	if err != nil {
		return nil, err
	}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(obj, objectmeta.ObjectMetaOptions{
		DropMalformedFields: m.lenient, ReturnUnknownFieldPaths: m.strict,
	})
	if err != nil {
		return nil, err
	}
	if !s.preserve {
		opts := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: m.strict}
		unknown = append(unknown, pruning.PruneWithOptions(obj, s.schema, true, opts)...)
		defaulting.PruneNonNullableNullsWithoutDefaults(obj, s.schema)
	}
	fieldErr, paths := objectmeta.CoerceWithOptions(nil, obj, s.schema, false, objectmeta.CoerceOptions{
		DropInvalidFields: m.lenient, ReturnUnknownFieldPaths: m.strict,
	})
	if fieldErr != nil {
		return nil, fieldErr
	}
	unknown = append(unknown, paths...)
	if kind != "" {
		obj["kind"] = kind
	}
	if apiVersion != "" {
		obj["apiVersion"] = apiVersion
	}
	if found {
		if m.lenient && meta.Generation == 0 {
			meta.Generation = 1
		}
		if err := objectmeta.SetObjectMeta(obj, meta); err != nil {
			return nil, err
		}
	}
	if m.fill {
		defaulting.Default(obj, s.schema)
	}
	return unknown, nil
}
