package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// For returns the schema of the objects of Go type t, a struct or a pointer to
// one, in the form a CustomResourceDefinition carries: apiVersion, kind and
// metadata are left out at the top. The result is structural; what a
// structural schema cannot express (recursive types, free-form JSON) preserves
// unknown fields. The caller owns the result.
func For(t reflect.Type) *apiextensionsv1.JSONSchemaProps { return (&builder{}).whole(t) }

// Recursive returns the schema with nothing left open: where the type contains
// itself there is a reference ($ref) to the id of the schema that is meant,
// which is one that the reference is in. That is not structural.
func Recursive(t reflect.Type) *apiextensionsv1.JSONSchemaProps {
	return (&builder{refers: true}).whole(t)
}

func (b *builder) whole(t reflect.Type) *apiextensionsv1.JSONSchemaProps {
	s := b.of(t)
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(s.Properties, name)
	}
	return s
}

// Field is one JSON field of a Go struct.
type Field struct {
	// Name is the field's name in JSON.
	Name string
	// Struct is what the struct is called ([Name]) that declares the field, which may be
	// one that is inlined.
	Struct string
	// Type is the Go type.
	Type reflect.Type
	// PatchStrategy and PatchMergeKey are strategic merge patch's tags.
	PatchStrategy string
	PatchMergeKey string
	// OmitEmpty: the zero value is not written.
	OmitEmpty bool
	// Description is what the struct's SwaggerDoc says of the field.
	Description string
}

// Fields returns the JSON fields of struct type t in the order of the source;
// embedded structs that JSON inlines are inlined.
func Fields(t reflect.Type) []Field {
	docs := swaggerDoc(t)
	var out []Field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" || (!sf.IsExported() && !sf.Anonymous) {
			continue
		}
		if name == "" && sf.Anonymous {
			if et := indirect(sf.Type); et.Kind() == reflect.Struct {
				out = append(out, Fields(et)...)
				continue
			}
		}
		if name == "" {
			name = sf.Name
		}
		out = append(out, Field{
			Name:          name,
			Struct:        Name(t),
			Type:          sf.Type,
			PatchStrategy: sf.Tag.Get("patchStrategy"),
			PatchMergeKey: sf.Tag.Get("patchMergeKey"),
			OmitEmpty:     slices.Contains(strings.Split(options, ","), "omitempty"),
			Description:   docs[name],
		})
	}
	return out
}

// Name is what is said of a struct by name calls it: group and version of its
// package, and its own name, as "core/v1.Container".
func Name(t reflect.Type) string {
	t = indirect(t)
	path := strings.Split(t.PkgPath(), "/")
	return strings.Join(path[max(0, len(path)-2):], "/") + "." + t.Name()
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// swaggerDoc returns the field descriptions of a struct; the entry "" is the
// struct's own.
func swaggerDoc(t reflect.Type) map[string]string {
	if d, ok := reflect.Zero(t).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		return d.SwaggerDoc()
	}
	return nil
}

// builder holds the struct types between the root and the type at hand, to
// notice recursion.
type builder struct {
	open   []reflect.Type
	refers bool // to what it notices
}

func (b *builder) of(t reflect.Type) *apiextensionsv1.JSONSchemaProps {
	t = indirect(t)
	if s := wellKnown(t); s != nil {
		return s
	}
	switch t.Kind() {
	case reflect.String:
		return &apiextensionsv1.JSONSchemaProps{Type: "string"}
	case reflect.Bool:
		return &apiextensionsv1.JSONSchemaProps{Type: "boolean"}
	case reflect.Int64, reflect.Int, reflect.Uint64, reflect.Uint, reflect.Uint32:
		return &apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int64"}
	case reflect.Int32, reflect.Int16, reflect.Int8, reflect.Uint16, reflect.Uint8:
		return &apiextensionsv1.JSONSchemaProps{Type: "integer", Format: "int32"}
	case reflect.Float64:
		return &apiextensionsv1.JSONSchemaProps{Type: "number", Format: "double"}
	case reflect.Float32:
		return &apiextensionsv1.JSONSchemaProps{Type: "number", Format: "float"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &apiextensionsv1.JSONSchemaProps{Type: "string", Format: "byte"}
		}
		return &apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: b.of(t.Elem())}}
	case reflect.Map:
		return &apiextensionsv1.JSONSchemaProps{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: b.of(t.Elem())}}
	case reflect.Struct:
		return b.structure(t)
	default:
		return anything()
	}
}

func (b *builder) structure(t reflect.Type) *apiextensionsv1.JSONSchemaProps {
	for _, o := range b.open {
		if o == t && b.refers {
			return &apiextensionsv1.JSONSchemaProps{Ref: ptr(t.String())}
		}
		if o == t {
			s := anything()
			s.Type, s.Description = "object", swaggerDoc(t)[""]
			return s
		}
	}
	b.open = append(b.open, t)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	s := &apiextensionsv1.JSONSchemaProps{Type: "object", Description: swaggerDoc(t)[""]}
	if b.refers {
		s.ID = t.String()
	}
	name := Name(t)
	if mergedAs(name) == "atomic" {
		s.XMapType = ptr("atomic")
	}
	for _, f := range Fields(t) {
		if len(b.open) == 1 && f.Name == "metadata" {
			continue
		}
		p := b.of(f.Type)
		if f.Description != "" {
			p.Description = f.Description
		}
		merge(p, f, mergedAs(name+"."+f.Name))
		if s.Properties == nil {
			s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		s.Properties[f.Name] = *p
	}
	return s
}

// merge says in the words of custom resources how the value of a field is
// merged: as how says, or else as strategic merge patch's tags do.
func merge(p *apiextensionsv1.JSONSchemaProps, f Field, how string) {
	if how == "" {
		how = tagged(f)
	}
	switch {
	case how == "":
	case p.Type == "object":
		p.XMapType = &how
	case p.Type != "array":
	case how == "atomic", how == "set":
		p.XListType = &how
	default:
		mapBy(p, f, strings.Fields(how))
	}
}

// tagged is how tags say that a list is merged: by a key, or as a set of what
// has no fields.
func tagged(f Field) string {
	list := indirect(f.Type)
	if list.Kind() != reflect.Slice || !strings.Contains(f.PatchStrategy, "merge") {
		return ""
	}
	switch item := indirect(list.Elem()); {
	case f.PatchMergeKey != "":
		return f.PatchMergeKey
	case item.Kind() != reflect.Struct && item.Kind() != reflect.Map && item.Kind() != reflect.Slice:
		return "set"
	}
	return ""
}

// mapBy makes the list of a field a map by the keys, of which each may give the
// default of its own field. A field without, that the Go type always writes,
// has its zero value as a default.
func mapBy(p *apiextensionsv1.JSONSchemaProps, f Field, keys []string) {
	items := p.Items.Schema
	p.XListType, p.XListMapKeys = ptr("map"), nil
	for _, key := range keys {
		name, text, given := strings.Cut(key, "=")
		p.XListMapKeys = append(p.XListMapKeys, name)
		var fallback any = text
		for _, k := range Fields(indirect(indirect(f.Type).Elem())) {
			if k.Name == name && !given && !k.OmitEmpty {
				fallback, given = reflect.Zero(k.Type).Interface(), true
			}
		}
		prop, ok := items.Properties[name]
		if raw, err := json.Marshal(fallback); ok && given && err == nil { // nothing that has no JSON is a key
			prop.Default = &apiextensionsv1.JSON{Raw: raw}
			items.Properties[name] = prop
		}
	}
}

func ptr[T any](v T) *T { return &v }
