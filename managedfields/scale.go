package managedfields

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/managedfields/merge"
)

// scaleType is the type of autoscaling/v1 Scales.
var scaleType = sync.OnceValues(func() (*merge.Type, error) {
	type props = apiextensionsv1.JSONSchemaProps
	object := func(fields map[string]props) props { return props{Type: "object", Properties: fields} }
	number := props{Type: "integer", Format: "int32"}
	whole := object(map[string]props{
		"spec":   object(map[string]props{"replicas": number}),
		"status": object(map[string]props{"replicas": number, "selector": {Type: "string"}}),
	})
	return merge.Object(&whole, true, false)
})

// CheckScale refuses an autoscaling/v1 Scale to apply that has what no Scale
// has, as [Kind.Apply] refuses other configurations.
func CheckScale(scale map[string]any) error {
	t, err := scaleType()
	if err == nil {
		err = t.Validate(scale, false)
	}
	if err != nil {
		return failure(fmt.Errorf("failed to create typed patch object (%s; autoscaling/v1, Kind=Scale): %w", named(scale), err))
	}
	return nil
}

const (
	scaleVersion = "autoscaling/v1"
	scaleKind    = "Scale"
)

// scales is made when it is first needed.
var scales = sync.OnceValue(func() *Kind {
	v := &version{
		Version: &crd.Version{Name: "v1"}, api: scaleVersion, kind: scaleKind,
		types: func() *merge.Type {
			t, _ := scaleType()
			return t
		},
		empty: func() map[string]any {
			return map[string]any{
				"apiVersion": scaleVersion, "kind": scaleKind, "metadata": map[string]any{}, "spec": map[string]any{}, "status": map[string]any{"replicas": int64(0)},
			}
		},
		resets: func() map[string]map[string]*fieldpath.Set { return nil },
	}
	return &Kind{def: &crd.Definition{Group: "autoscaling", Kind: scaleKind, Versions: []*crd.Version{v.Version}}, versions: map[string]*version{scaleVersion: v}}
})

// Scales is the field management of autoscaling/v1 Scales as those see it who are
// shown one. What is stored is that of the object which is scaled.
func Scales() *Kind { return scales() }

// OfScale are the entries of an object's managedFields that own how many replicas
// it wants, as those of its Scale; replicas is where that is, by apiVersion. What
// cannot be read is nothing.
func OfScale(managed []byte, replicas map[string][]string) []byte {
	all, err := readLive(managed)
	if err != nil {
		return nil
	}
	number, err := sets.of(fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas")))
	if err != nil {
		return nil
	}
	var out entries
	for _, e := range all {
		path := fieldpath.Path{}
		for _, name := range replicas[e.version] {
			path = append(path, fieldpath.PathElement{FieldName: &name})
		}
		if len(path) == 0 || !e.fields.set.Has(path) {
			continue
		}
		out = out.set(entry{id: identify(e.id.manager, e.id.operation, scaleVersion, e.id.subresource), version: scaleVersion, fields: number, at: e.at})
	}
	return out.encode()
}
