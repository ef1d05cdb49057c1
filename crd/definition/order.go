package definition

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"

	"github.com/wasmgate/wasmgate/crd/object"
)

// order is how the JSON of a Go type is ordered: as its fields are, where it is
// a struct. nil stands for no order, which is that of names.
type order struct {
	fields []string
	// below are the orders of the fields' values, and each is that of the values
	// of a map or the elements of a list.
	below map[string]*order
	each  *order
}

// schemaOrder is the order of schemas as kube-apiserver stores them.
var schemaOrder = sync.OnceValue(func() *order {
	schema := reflect.TypeFor[v1beta1.JSONSchemaProps]()
	known := map[reflect.Type]*order{
		// Free JSON, and what may be a schema or a list of schemas.
		reflect.TypeFor[v1beta1.JSON](): nil,
	}
	o := orderOf(schema, known)
	o.each = o
	return o
})

// orderOf is the order of a type; known are those of the types around it.
func orderOf(t reflect.Type, known map[reflect.Type]*order) *order {
	if o, ok := known[t]; ok {
		return o
	}
	switch t.Kind() {
	case reflect.Pointer:
		return orderOf(t.Elem(), known)
	case reflect.Map, reflect.Slice:
		return &order{each: orderOf(t.Elem(), known)}
	case reflect.Struct:
	default:
		return nil
	}
	if f, ok := t.FieldByName("Schema"); ok && f.Type.Kind() == reflect.Pointer {
		return orderOf(f.Type, known) // a schema or something else
	}
	o := &order{below: map[string]*order{}}
	known[t] = o
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		o.fields = append(o.fields, name)
		o.below[name] = orderOf(t.Field(i).Type, known)
	}
	return o
}

// append appends the JSON of v, without spaces, in the order.
func (o *order) append(dst []byte, v any) (_ []byte, err error) {
	if o == nil {
		return object.Append(dst, v)
	}
	switch x := v.(type) {
	case map[string]any:
		dst = append(dst, '{')
		n := 0
		for _, name := range o.names(x) {
			value, ok := x[name]
			if !ok {
				continue
			}
			if n++; n > 1 {
				dst = append(dst, ',')
			}
			below := o.each
			if o.fields != nil {
				below = o.below[name]
			}
			dst = append(object.AppendString(dst, name), ':')
			if dst, err = below.append(dst, value); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	case []any:
		dst = append(dst, '[')
		for i, item := range x {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = o.each.append(dst, item); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	default:
		return object.Append(dst, v)
	}
}

// names are the names of a map's fields, in the order, and maybe others.
func (o *order) names(m map[string]any) []string {
	if o.fields != nil {
		return o.fields
	}
	return slices.Sorted(maps.Keys(m))
}
