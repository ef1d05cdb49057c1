package gotype

import (
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Type is what is known of a Go type. It is immutable, and safe for concurrent use.
type Type struct {
	kind kind
	// of a struct:
	fields  map[string]*field // by the name in JSON
	written []*field          // those that are there even if nobody said anything
	elem    *Type             // of a list, and of the values of a map
	bits    int               // of an integer
}

// field is a field of a struct as JSON has it.
type field struct {
	name string
	of   *Type
	// omitted: a value that says nothing is not written.
	omitted bool
	// lost: the value is in no protobuf.
	lost bool
	// pointed: the value is behind a pointer, so that one that says nothing is one.
	pointed bool
}

// kind is which trees a type is written as.
type kind int

const (
	unknown kind = iota // of which nothing is told
	aStruct
	aMap
	aList
	aString
	aBool
	anInteger
	bytes64 // bytes, in base64
	aTime
	aMicroTime
	aQuantity
	intOrString
)

var byItself = map[reflect.Type]kind{
	reflect.TypeFor[metav1.Time]():        aTime,
	reflect.TypeFor[metav1.MicroTime]():   aMicroTime,
	reflect.TypeFor[resource.Quantity]():  aQuantity,
	reflect.TypeFor[intstr.IntOrString](): intOrString,
	// Trees have them as object.Managed.
	reflect.TypeFor[metav1.ManagedFieldsEntry](): unknown,
}

var types sync.Map // of *Type, by reflect.Type

// Of is what is known of a Go type, or of what a pointer type points to. Of nil, the type
// of nothing, that is nothing.
func Of(t reflect.Type) *Type {
	if t == nil {
		return &Type{}
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known, ok := types.Load(t); ok {
		return known.(*Type)
	}
	top := look(t, map[reflect.Type]*Type{})
	for _, name := range []string{"apiVersion", "kind"} {
		if f := top.fields[name]; f != nil {
			f.lost = false // the envelope has them
		}
	}
	made, _ := types.LoadOrStore(t, top)
	return made.(*Type)
}

// look looks at t; within are the structs that are being looked at.
func look(t reflect.Type, within map[reflect.Type]*Type) *Type {
	if k, ok := byItself[t]; ok {
		return &Type{kind: k}
	}
	if writesItself(t) {
		return &Type{}
	}
	switch t.Kind() {
	case reflect.String:
		return &Type{kind: aString}
	case reflect.Bool:
		return &Type{kind: aBool}
	case reflect.Int32, reflect.Int64:
		return &Type{kind: anInteger, bits: t.Bits()}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Type{kind: bytes64}
		}
		return of(aList, look(t.Elem(), within))
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !writesItself(t.Key()) {
			return of(aMap, look(t.Elem(), within))
		}
	case reflect.Struct:
		if known := within[t]; known != nil {
			return known
		}
		s := &Type{kind: aStruct, fields: map[string]*field{}}
		within[t] = s
		s.addFields(t, within, false)
		return s
	}
	return &Type{}
}

// of is a list or a map of what elem is.
func of(k kind, elem *Type) *Type {
	if elem.kind == unknown {
		return elem
	}
	return &Type{kind: k, elem: elem}
}

// addFields adds those of a struct, and of what is inlined in it. lost tells that
// protobuf has none of them.
func (s *Type) addFields(t reflect.Type, within map[reflect.Type]*Type, lost bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		lost := lost || f.Tag.Get("protobuf") == ""
		switch {
		case name == "-":
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct && !writesItself(f.Type):
			s.addFields(f.Type, within, lost)
		case name == "" || !f.IsExported() || s.fields[name] != nil:
			s.kind = unknown
		default:
			s.add(&field{name: name, lost: lost}, options, f.Type, within)
		}
	}
}

func (s *Type) add(f *field, options string, t reflect.Type, within map[reflect.Type]*Type) {
	if f.pointed = t.Kind() == reflect.Pointer; f.pointed {
		t = t.Elem()
	}
	f.of = look(t, within)
	for option := range strings.SplitSeq(options, ",") {
		switch {
		case option == "omitempty" && (f.pointed || t.Kind() != reflect.Struct), option == "omitzero":
			f.omitted = true
		case option == "string":
			f.of = &Type{}
		}
	}
	s.fields[f.name] = f
	if !f.omitted {
		s.written = append(s.written, f)
	}
}

// writers are the methods by which a type says itself how it is written or read.
var writers = []string{"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "ToUnstructured", "IsZero"}

func writesItself(t reflect.Type) bool {
	for _, name := range writers {
		if _, ok := reflect.PointerTo(t).MethodByName(name); ok {
			return true
		}
	}
	return false
}
