package apply

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v4/schema"

	"github.com/wasmgate/wasmgate/crd"
)

// Names of the types that structured-merge-diff itself knows about: whatever
// has no schema is merged by what it looks like (deduced) or not at all
// (atomic).
const (
	rootType    = "object"
	metaType    = "meta"
	ownerType   = "owner"
	atomicType  = "__untyped_atomic_"
	deducedType = "__untyped_deduced_"
)

func named(name string) schema.TypeRef { return schema.TypeRef{NamedType: &name} }

func scalar(s schema.Scalar) schema.Atom { return schema.Atom{Scalar: &s} }

func inlined(a schema.Atom) schema.TypeRef { return schema.TypeRef{Inlined: a} }

// schemaOf is the schema of whole objects of a version. What cannot be
// understood is an error; then nothing but deduced types is known.
func schemaOf(v *crd.Version) (*schema.Schema, error) {
	b := builder{native: v.Native()}
	root := deducedRoot()
	if v.Schema != nil {
		// The whole object has what an embedded one has.
		whole := *v.Schema
		whole.XEmbeddedResource = true
		var err error
		if root, err = b.atom(&whole); err != nil {
			return nil, err
		}
		if root.Map == nil {
			return nil, fmt.Errorf("the schema is of type %q", v.Schema.Type)
		}
	}
	return schemaWith(root), nil
}

// deducedRoot is an object of which nothing is known.
func deducedRoot() schema.Atom {
	return schema.Atom{Map: &schema.Map{ElementType: named(deducedType)}}
}

func schemaWith(root schema.Atom) *schema.Schema {
	return &schema.Schema{Types: append(commonTypes(), schema.TypeDef{Name: rootType, Atom: root})}
}

// builder makes atoms of the schemas of one version.
type builder struct {
	// native: int-or-string is one scalar type of its own there.
	native bool
	// preserve: unknown fields are kept here, and so in everything below.
	preserve bool
}

func (b builder) ref(s *apiextensionsv1.JSONSchemaProps) (schema.TypeRef, error) {
	a, err := b.atom(s)
	return inlined(a), err
}

func (b builder) atom(s *apiextensionsv1.JSONSchemaProps) (schema.Atom, error) {
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields {
		b.preserve = true
	}
	switch s.Type {
	case "":
		if b.native && s.XIntOrString {
			return scalar(schema.Untyped), nil
		}
		l, err := b.list(s)
		if err != nil {
			return schema.Atom{}, err
		}
		m, err := b.object(s)
		a := scalar(schema.Untyped)
		a.List, a.Map = l, m
		return a, err
	case "object":
		m, err := b.object(s)
		return schema.Atom{Map: m}, err
	case "array":
		l, err := b.list(s)
		return schema.Atom{List: l}, err
	case "integer", "number":
		return scalar(schema.Numeric), nil
	case "boolean":
		return scalar(schema.Boolean), nil
	case "string":
		if s.Format == "" || s.Format == "byte" {
			return scalar(schema.String), nil
		}
		return scalar(schema.Untyped), nil
	}
	return schema.Atom{}, fmt.Errorf("unknown type %q", s.Type)
}

func (b builder) object(s *apiextensionsv1.JSONSchemaProps) (*schema.Map, error) {
	m := &schema.Map{}
	if s.XEmbeddedResource {
		m.Fields = typeMeta()
	}
	for name, p := range s.Properties {
		if s.XEmbeddedResource && isTypeMeta(name) {
			continue
		}
		t, err := b.ref(&p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f := schema.StructField{Name: name, Type: t}
		if p.Default != nil {
			if err := utiljson.Unmarshal(p.Default.Raw, &f.Default); err != nil {
				return nil, fmt.Errorf("%s: default: %w", name, err)
			}
		}
		m.Fields = append(m.Fields, f)
	}
	var err error
	if m.ElementType, err = b.unknown(s, len(m.Fields)); err != nil {
		return nil, err
	}
	if s.XMapType != nil {
		switch *s.XMapType {
		case "atomic":
			m.ElementRelationship = schema.Atomic
		case "granular":
			m.ElementRelationship = schema.Separable
		default:
			return nil, fmt.Errorf("unknown map type %q", *s.XMapType)
		}
	}
	return m, nil
}

// unknown is the type of what is not among the fields of an object.
func (b builder) unknown(s *apiextensionsv1.JSONSchemaProps, fields int) (schema.TypeRef, error) {
	switch a := s.AdditionalProperties; {
	case a == nil:
		if b.preserve || fields == 0 {
			return named(deducedType), nil
		}
	case a.Schema != nil:
		return b.ref(a.Schema)
	case a.Allows:
		return named(deducedType), nil
	}
	return schema.TypeRef{}, nil
}

func (b builder) list(s *apiextensionsv1.JSONSchemaProps) (*schema.List, error) {
	l := &schema.List{ElementType: named(atomicType), ElementRelationship: schema.Atomic}
	if s.Items != nil {
		if s.Items.Schema == nil {
			return nil, fmt.Errorf("items have no one schema")
		}
		var err error
		if l.ElementType, err = b.ref(s.Items.Schema); err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
	}
	if s.XListType != nil {
		switch *s.XListType {
		case "atomic":
		case "set":
			l.ElementRelationship = schema.Associative
		case "map":
			l.ElementRelationship, l.Keys = schema.Associative, s.XListMapKeys
		default:
			return nil, fmt.Errorf("unknown list type %q", *s.XListType)
		}
	}
	return l, nil
}

// typeMeta are the fields that every object has and that a definition's schema
// leaves out.
func typeMeta() []schema.StructField {
	return []schema.StructField{
		{Name: "apiVersion", Type: inlined(scalar(schema.String))},
		{Name: "kind", Type: inlined(scalar(schema.String))},
		{Name: "metadata", Type: named(metaType)},
	}
}

func isTypeMeta(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// commonTypes are the types that all schemas share.
func commonTypes() []schema.TypeDef {
	free := func(name, lists, maps string, r schema.ElementRelationship) schema.TypeDef {
		a := scalar(schema.Untyped)
		a.List = &schema.List{ElementType: named(lists), ElementRelationship: schema.Atomic}
		a.Map = &schema.Map{ElementType: named(maps), ElementRelationship: r}
		return schema.TypeDef{Name: name, Atom: a}
	}
	return []schema.TypeDef{
		free(atomicType, atomicType, atomicType, schema.Atomic),
		free(deducedType, atomicType, deducedType, schema.Separable),
		{Name: metaType, Atom: objectMeta()},
		{Name: ownerType, Atom: schema.Atom{Map: &schema.Map{
			Fields: append(scalars(schema.String, "apiVersion", "kind", "name", "uid"),
				scalars(schema.Boolean, "blockOwnerDeletion", "controller")...),
			ElementRelationship: schema.Atomic,
		}}},
	}
}

// scalars are fields of one scalar type.
func scalars(kind schema.Scalar, names ...string) []schema.StructField {
	out := make([]schema.StructField, 0, len(names))
	for _, name := range names {
		out = append(out, schema.StructField{Name: name, Type: inlined(scalar(kind))})
	}
	return out
}

// objectMeta is metadata as every kind has it.
func objectMeta() schema.Atom {
	texts := inlined(schema.Atom{Map: &schema.Map{ElementType: inlined(scalar(schema.String))}})
	list := func(element schema.TypeRef, r schema.ElementRelationship, keys ...string) schema.TypeRef {
		return inlined(schema.Atom{List: &schema.List{ElementType: element, ElementRelationship: r, Keys: keys}})
	}
	return schema.Atom{Map: &schema.Map{Fields: slices.Concat(
		scalars(schema.String, "generateName", "name", "namespace", "resourceVersion", "selfLink", "uid"),
		scalars(schema.Numeric, "deletionGracePeriodSeconds", "generation"),
		scalars(schema.Untyped, "creationTimestamp", "deletionTimestamp"),
		[]schema.StructField{
			{Name: "annotations", Type: texts},
			{Name: "labels", Type: texts},
			{Name: "finalizers", Type: list(inlined(scalar(schema.String)), schema.Associative)},
			{Name: "ownerReferences", Type: list(named(ownerType), schema.Associative, "uid")},
			{Name: "managedFields", Type: list(named(deducedType), schema.Atomic)},
		},
	)}}
}
