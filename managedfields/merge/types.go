package merge

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Type says how values of one place in an object are merged. A type allows
// scalars, lists, objects, or several of them. It is immutable and safe for
// concurrent use.
type Type struct {
	scalar scalarType
	list   *listType
	object *objectType
}

type scalarType uint8

const (
	noScalar scalarType = iota
	numeric
	text
	boolean
	anyScalar
)

// listType is a list: atomic (one value), a set of scalars (no keys), or a map
// of objects by keys.
type listType struct {
	atomic  bool
	keys    []listKey // sorted by name
	element *Type
}

type listKey struct {
	name     string
	fallback any // what a missing key is taken for; nil for nothing
}

// objectType is an object with declared fields, others, or both.
type objectType struct {
	atomic bool
	fields map[string]*field
	// element is the type of other fields; nil if there may be none.
	element *Type
	// free: nothing is declared of the object, so that its history says
	// nothing.
	free bool
}

type field struct {
	*Type
	element  fieldpath.PathElement
	fallback any
}

func newField(name string, t *Type) *field {
	return &field{Type: t, element: fieldpath.PathElement{FieldName: &name}}
}

// of is the type of a field, with the path element it has in sets; declared
// says whether the schema names it. The type is nil for what may not be there.
func (o *objectType) of(name string) (t *Type, element fieldpath.PathElement, declared bool) {
	if f := o.fields[name]; f != nil {
		return f.Type, f.element, true
	}
	return o.element, fieldpath.PathElement{FieldName: &name}, false
}

// typeOf is of for those who need no path.
func (o *objectType) typeOf(name string) *Type {
	if f := o.fields[name]; f != nil {
		return f.Type
	}
	return o.element
}

// form is what a type takes a value for.
type form uint8

const (
	nothing form = iota
	asScalar
	asList
	asObject
)

// form decides among what t allows by the value; what the value does not
// decide, as null, is an object first, then a scalar, then a list.
func (t *Type) form(v any) form {
	if t == nil {
		return nothing
	}
	switch v.(type) {
	case nil:
	case map[string]any:
		if t.object != nil {
			return asObject
		}
	case []any:
		if t.list != nil {
			return asList
		}
	default:
		if t.scalar != noScalar {
			return asScalar
		}
	}
	return t.firstForm()
}

func (t *Type) firstForm() form {
	switch {
	case t == nil:
		return nothing
	case t.object != nil:
		return asObject
	case t.scalar != noScalar:
		return asScalar
	case t.list != nil:
		return asList
	}
	return nothing
}

// The types of what no schema says anything about.
var (
	// atomicType is one value, whatever it is.
	atomicType = &Type{scalar: anyScalar}
	// deducedType is merged by what it looks like: objects by their fields,
	// all else as one value.
	deducedType = &Type{scalar: anyScalar}
)

func init() {
	atomicType.list = &listType{atomic: true, element: atomicType}
	atomicType.object = &objectType{atomic: true, element: atomicType}
	deducedType.list = &listType{atomic: true, element: atomicType}
	deducedType.object = &objectType{element: deducedType, free: true}
}
