package quantity

import (
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wasmgate/wasmgate/crd/schema"
)

// RoundUp rounds the amounts of resources in a Go object up to thousandths, as
// kube-apiserver's defaults of the group "" do (SetDefaults_ResourceList). Those in
// structs of other groups, as the overhead of a RuntimeClass, stay what they are. The
// object is a pointer to a struct, and belongs to the caller.
func RoundUp(object any) { listsOf(reflect.TypeOf(object)).round(reflect.ValueOf(object)) }

// lists are where a type has amounts that are rounded; nil is for nowhere.
type lists struct {
	self   bool
	fields map[int]*lists // by the field's index
	each   *lists         // of a list
}

func (l *lists) round(v reflect.Value) {
	if l == nil {
		return
	}
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	switch {
	case l.self:
		list := v.Interface().(corev1.ResourceList)
		for name, amount := range list {
			amount.RoundUp(resource.Milli)
			list[name] = amount
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			l.each.round(v.Index(i))
		}
	default:
		for i, at := range l.fields {
			at.round(v.Field(i))
		}
	}
}

var rounded sync.Map // of *lists, by reflect.Type

func listsOf(t reflect.Type) *lists {
	if l, ok := rounded.Load(t); ok {
		return l.(*lists)
	}
	l := findLists(t, map[reflect.Type]bool{})
	rounded.Store(t, l)
	return l
}

// findLists looks where t has amounts. No type that contains itself has some.
func findLists(t reflect.Type, within map[reflect.Type]bool) *lists {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice:
		if each := findLists(t.Elem(), within); each != nil {
			return &lists{each: each}
		}
	case t.Kind() == reflect.Struct && !schema.Leaf(t) && !within[t]:
		within[t] = true
		defer delete(within, t)
		l := &lists{fields: map[int]*lists{}}
		for i := range t.NumField() {
			f := t.Field(i)
			at := findLists(f.Type, within)
			if f.Type == reflect.TypeFor[corev1.ResourceList]() && t.PkgPath() == f.Type.PkgPath() {
				at = &lists{self: true}
			}
			if at != nil {
				l.fields[i] = at
			}
		}
		if len(l.fields) > 0 {
			return l
		}
	}
	return nil
}
