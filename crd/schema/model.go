package schema

import (
	"encoding/json"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/builder3/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Models describes the Go type t, a struct or a pointer to one, as Kubernetes' documents
// describe it, which are of OpenAPI version 2 or 3: by the names that clients know, each
// struct that it is made of on its own, to which the others refer. It says which fields
// have to be sent, what stands where they are not, which values there are, and how values
// are merged. The caller owns the models and their extensions, and must not change other
// parts.
func Models(t reflect.Type, version int) map[string]*spec.Schema {
	marks, _ := marked() // which a test reads
	m := &modeller{v3: version == 3, marks: marks, made: map[string]*spec.Schema{}}
	m.of(t)
	if m.v3 {
		for name, s := range m.made {
			m.made[name] = util.WrapRefs(s)
		}
	}
	return m.made
}

// ModelName is the name of a Go type in Kubernetes' documents, "" for those that have none.
func ModelName(t reflect.Type) string {
	if t = indirect(t); t.Kind() != reflect.Struct {
		return ""
	}
	if named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	return ""
}

// modeller makes models, of which made holds those that are done or begun.
type modeller struct {
	v3    bool
	marks *marks
	made  map[string]*spec.Schema
}

// of is what stands where a value of a type does.
func (m *modeller) of(t reflect.Type) *spec.Schema {
	t = indirect(t)
	switch name := ModelName(t); {
	case name != "":
		if m.made[name] == nil && !m.adopt(name) {
			s := &spec.Schema{}
			m.made[name] = s // so that it can refer to itself
			m.structure(t, s)
		}
		return m.reference(name)
	case t.Kind() == reflect.Struct:
		s := &spec.Schema{}
		m.structure(t, s)
		return s
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 {
			return spec.ArrayProperty(m.item(t.Elem()))
		}
	case reflect.Map:
		return spec.MapProperty(m.item(t.Elem()))
	}
	return m.scalar(t)
}

func (m *modeller) reference(name string) *spec.Schema {
	ref := referenceV2
	if m.v3 {
		ref = referenceV3
	}
	return &spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(name)}}
}

// item is what stands where an item of a list or a map does.
func (m *modeller) item(t reflect.Type) *spec.Schema {
	s := m.of(t)
	s.Default = zero(t)
	return s
}

// scalar is a value without parts, by what is said of it in the form of a custom resource.
func (m *modeller) scalar(t reflect.Type) *spec.Schema {
	plain := (&builder{}).of(t)
	s := &spec.Schema{SchemaProps: spec.SchemaProps{Format: plain.Format}}
	if plain.Type != "" {
		s.Type = spec.StringOrArray{plain.Type}
	}
	if t.Kind() == reflect.String {
		for _, value := range m.marks.Enums[Name(t)] {
			s.Enum = append(s.Enum, value)
		}
	}
	return s
}

// asText are the types that say themselves what their JSON is.
type asText interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

// structure describes a struct on its own.
func (m *modeller) structure(t reflect.Type, s *spec.Schema) {
	s.Description = swaggerDoc(t)[""]
	if v, ok := reflect.Zero(t).Interface().(asText); ok {
		s.Type, s.Format = v.OpenAPISchemaType(), v.OpenAPISchemaFormat()
		if several, ok := v.(interface{ OpenAPIV3OneOfTypes() []string }); ok && m.v3 {
			s.Type = nil
			for _, one := range several.OpenAPIV3OneOfTypes() {
				s.OneOf = append(s.OneOf, spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{one}}})
			}
		}
		return
	}
	s.Type = spec.StringOrArray{"object"}
	tellKind(t, s)
	name := Name(t)
	if mergedAs(name) == "atomic" {
		s.AddExtension("x-kubernetes-map-type", "atomic")
	}
	for _, f := range Fields(t) {
		s.SetProperty(f.Name, *m.field(f, name+"."+f.Name))
		if m.marks.required(f) {
			s.Required = append(s.Required, f.Name)
		}
	}
}

// tellKind says of the model of a kind which one it is.
func tellKind(t reflect.Type, s *spec.Schema) {
	object, ok := reflect.New(t).Interface().(runtime.Object)
	if !ok {
		return
	}
	if kinds, _, err := scheme.Scheme.ObjectKinds(object); err == nil && len(kinds) == 1 {
		s.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": kinds[0].Group, "version": kinds[0].Version, "kind": kinds[0].Kind}})
	}
}

// field describes a field of a struct, which is called name.
func (m *modeller) field(f Field, name string) *spec.Schema {
	s := m.of(f.Type)
	s.Description = f.Description
	s.Default = m.fallback(f)
	if f.PatchStrategy != "" {
		s.AddExtension("x-kubernetes-patch-strategy", f.PatchStrategy)
	}
	if f.PatchMergeKey != "" {
		s.AddExtension("x-kubernetes-patch-merge-key", f.PatchMergeKey)
	}
	how := m.merging(f, name)
	if how.XListType != nil {
		s.AddExtension("x-kubernetes-list-type", *how.XListType)
	}
	if len(how.XListMapKeys) > 0 {
		keys := make([]any, len(how.XListMapKeys))
		for i, key := range how.XListMapKeys {
			keys[i] = key
		}
		s.AddExtension("x-kubernetes-list-map-keys", keys)
	}
	if how.XMapType != nil {
		s.AddExtension("x-kubernetes-map-type", *how.XMapType)
	}
	return s
}

// merging says how the value of a field is merged, in the words of custom resources.
func (m *modeller) merging(f Field, name string) *apiextensionsv1.JSONSchemaProps {
	p := &apiextensionsv1.JSONSchemaProps{Type: "object"}
	if indirect(f.Type).Kind() == reflect.Slice {
		p.Type, p.Items = "array", &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{}}
	}
	merge(p, f, mergedAs(name))
	if p.XListType == nil && contains(m.marks.Atomic, f.declared()) {
		p.XListType = ptr("atomic")
	}
	return p
}

// fallback is what stands where nobody sent a field: what the source says, or the zero
// value of what is always written.
func (m *modeller) fallback(f Field) any {
	if text, said := m.marks.Defaults[f.declared()]; said {
		var value any
		if json.Unmarshal([]byte(text), &value) == nil {
			return value
		}
	}
	if f.OmitEmpty && f.Type.Kind() != reflect.Struct {
		return nil
	}
	return zero(f.Type)
}

// zero is the zero value of a type in documents, nil where that is null.
func zero(t reflect.Type) any {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return nil
	case reflect.Struct:
		if writtenAsNull(t) {
			return nil
		}
		return map[string]any{}
	}
	return reflect.Zero(t).Interface()
}

// writtenAsNull tells that the zero value of a struct is no object in JSON.
func writtenAsNull(t reflect.Type) bool {
	_, own := reflect.New(t).Interface().(json.Unmarshaler)
	return own
}
