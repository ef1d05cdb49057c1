package merge

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Object is the type of objects whose schema, in the form that a
// CustomResourceDefinition carries, is s: apiVersion, kind and metadata are
// added. Without a schema nothing is known of the fields, not even of these.
// Native schemas are those of Go types, where what is an integer or a string is
// one scalar; elsewhere it may be anything. An error means that the schema is
// not structural; but it may refer ($ref) to the id of a schema that it is in.
//
// With preserve, fields that are not in the schema may be everywhere.
func Object(s *apiextensionsv1.JSONSchemaProps, native, preserve bool) (*Type, error) {
	if s == nil {
		return &Type{object: &objectType{element: deducedType, free: true}}, nil
	}
	// The whole object has what an embedded one has.
	whole := *s
	whole.XEmbeddedResource = true
	b := builder{native: native, preserve: preserve, meta: metaType(preserve), open: map[string]*Type{}}
	t, err := b.build(&whole)
	if err == nil && t.object == nil {
		err = fmt.Errorf("objects are of type %q", s.Type)
	}
	return t, err
}

// builder makes types of the schemas of one version.
type builder struct {
	native bool
	// preserve: unknown fields are kept here, and so in everything below.
	preserve bool
	// meta is the type of metadata.
	meta *Type
	// open are the types of the schemas around this one that have an id.
	open map[string]*Type
}

func (b builder) build(s *apiextensionsv1.JSONSchemaProps) (*Type, error) {
	if s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields {
		b.preserve = true
	}
	if s.Ref != nil {
		if t := b.open[*s.Ref]; t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("a reference to %q, which it is not in", *s.Ref)
	}
	t := &Type{}
	if s.ID != "" {
		b.open = maps.Clone(b.open)
		b.open[s.ID] = t
	}
	var err error
	switch s.Type {
	case "":
		t.scalar = anyScalar
		if b.native && s.XIntOrString {
			return t, nil
		}
		if t.list, err = b.list(s); err == nil {
			t.object, err = b.object(s)
		}
	case "object":
		t.object, err = b.object(s)
	case "array":
		t.list, err = b.list(s)
	case "integer", "number":
		t.scalar = numeric
	case "boolean":
		t.scalar = boolean
	case "string":
		t.scalar = anyScalar
		if s.Format == "" || s.Format == "byte" {
			t.scalar = text
		}
	default:
		err = fmt.Errorf("unknown type %q", s.Type)
	}
	return t, err
}

func (b builder) object(s *apiextensionsv1.JSONSchemaProps) (*objectType, error) {
	o := &objectType{fields: make(map[string]*field, len(s.Properties))}
	for name, p := range s.Properties {
		t, err := b.build(&p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f := newField(name, t)
		if p.Default != nil {
			if err := utiljson.Unmarshal(p.Default.Raw, &f.fallback); err != nil {
				return nil, fmt.Errorf("%s: default: %w", name, err)
			}
		}
		o.fields[name] = f
	}
	if s.XEmbeddedResource {
		for name, t := range map[string]*Type{"apiVersion": textType, "kind": textType, "metadata": b.meta} {
			o.fields[name] = newField(name, t)
		}
	}
	if err := b.others(s, o); err != nil {
		return nil, err
	}
	if s.XMapType != nil {
		switch *s.XMapType {
		case "atomic":
			o.atomic = true
		case "granular":
		default:
			return nil, fmt.Errorf("unknown map type %q", *s.XMapType)
		}
	}
	return o, nil
}

// others sets the type of what is not among the fields of an object.
func (b builder) others(s *apiextensionsv1.JSONSchemaProps, o *objectType) (err error) {
	switch a := s.AdditionalProperties; {
	case a == nil:
		if b.preserve || len(o.fields) == 0 {
			o.element = deducedType
		}
	case a.Schema != nil:
		o.element, err = b.build(a.Schema)
	case a.Allows:
		o.element = deducedType
	}
	o.free = len(o.fields) == 0 && o.element != nil && o.element.scalar == anyScalar
	return err
}

func (b builder) list(s *apiextensionsv1.JSONSchemaProps) (*listType, error) {
	l := &listType{element: atomicType, atomic: true}
	if s.Items != nil {
		if s.Items.Schema == nil {
			return nil, errors.New("items have no one schema")
		}
		var err error
		if l.element, err = b.build(s.Items.Schema); err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
	}
	if s.XListType != nil {
		switch *s.XListType {
		case "atomic":
		case "set":
			l.atomic = false
		case "map":
			l.atomic = false
			l.setKeys(s.XListMapKeys)
		default:
			return nil, fmt.Errorf("unknown list type %q", *s.XListType)
		}
	}
	return l, nil
}

// setKeys makes l a map by the keys.
func (l *listType) setKeys(names []string) {
	for _, name := range names {
		k := listKey{name: name}
		if o := l.element.object; o != nil && o.fields[name] != nil {
			k.fallback = o.fields[name].fallback
		}
		l.keys = append(l.keys, k)
	}
	slices.SortStableFunc(l.keys, func(a, b listKey) int { return strings.Compare(a.name, b.name) })
}

var textType = &Type{scalar: text}

func scalars(fields map[string]*field, s scalarType, names ...string) {
	for _, name := range names {
		fields[name] = newField(name, &Type{scalar: s})
	}
}

// metaType is the type of metadata as every kind has it; with preserve it may
// have other fields, too.
func metaType(preserve bool) *Type {
	t := &Type{object: &objectType{fields: metaFields()}}
	if preserve {
		t.object.element = deducedType
	}
	return t
}

func metaFields() map[string]*field {
	owner := &objectType{atomic: true, fields: map[string]*field{}}
	scalars(owner.fields, text, "apiVersion", "kind", "name", "uid")
	scalars(owner.fields, boolean, "blockOwnerDeletion", "controller")
	owner.fields["uid"].fallback = ""
	owners := &listType{element: &Type{object: owner}}
	owners.setKeys([]string{"uid"})

	out := map[string]*field{}
	scalars(out, text, "generateName", "name", "namespace", "resourceVersion", "selfLink", "uid")
	scalars(out, numeric, "deletionGracePeriodSeconds", "generation")
	scalars(out, anyScalar, "creationTimestamp", "deletionTimestamp")
	for name, t := range map[string]*Type{
		"annotations":     {object: &objectType{element: &Type{scalar: text}}},
		"labels":          {object: &objectType{element: &Type{scalar: text}}},
		"finalizers":      {list: &listType{element: &Type{scalar: text}}},
		"ownerReferences": {list: owners},
		"managedFields":   {list: &listType{atomic: true, element: deducedType}},
	} {
		out[name] = newField(name, t)
	}
	return out
}
