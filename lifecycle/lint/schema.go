package lint

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schemas finds what a schema refuses, drops or makes otherwise than the one before.
type schemas struct {
	// bad is told what it refuses or makes otherwise, and lost what it drops, of which of is
	// dropped.
	bad, lost func(path, format string, args ...any)
	of        string
}

func (s schemas) compare(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	s.types(path, was, is)
	s.tighter(path, was, is)
	s.texts(path, was, is)
	if !bytes.Equal(raw(was.Default), raw(is.Default)) {
		s.bad(path, "the default was %s and is %s", orNone(raw(was.Default)), orNone(raw(is.Default)))
	}
	s.properties(path, was, is)
	for _, name := range is.Required {
		if !slices.Contains(was.Required, name) && is.Properties[name].Default == nil {
			s.bad(join(path, name), "is required now")
		}
	}
	if was.Items != nil && is.Items != nil && was.Items.Schema != nil && is.Items.Schema != nil {
		s.compare(path+"[]", was.Items.Schema, is.Items.Schema)
	}
	s.additional(path, was, is)
}

// properties compares fields that one of two objects names with what the other one has there.
func (s schemas) properties(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	for _, name := range slices.Sorted(maps.Keys(was.Properties)) {
		before, at := was.Properties[name], join(path, name)
		now, ok := is.Properties[name]
		switch others, any := unnamed(is); {
		case ok:
			s.compare(at, &before, &now)
		case others != nil:
			s.compare(at, &before, others)
		case !any:
			s.gone(at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is.Properties)) {
		if _, ok := was.Properties[name]; ok {
			continue
		}
		now, at := is.Properties[name], join(path, name)
		switch others, any := unnamed(was); {
		case others != nil:
			s.compare(at, others, &now)
		case any:
			s.named(at, &now)
		}
	}
	if was.XEmbeddedResource && !is.XEmbeddedResource {
		for _, name := range []string{"apiVersion", "kind", "metadata"} { // which such have without naming them
			_, before := was.Properties[name]
			_, now := is.Properties[name]
			if _, any := unnamed(is); !before && !now && !any {
				s.gone(join(path, name))
			}
		}
	}
}

func (s schemas) gone(path string) { s.lost(path, "the field is gone: it is dropped from %s", s.of) }

// unnamed is what an object keeps in fields that it does not name: what a schema says, or
// anything.
func unnamed(s *apiextensionsv1.JSONSchemaProps) (schema *apiextensionsv1.JSONSchemaProps, any bool) {
	if more := s.AdditionalProperties; more != nil && (more.Schema != nil || more.Allows) {
		return more.Schema, true
	}
	return nil, preserves(s)
}

// named finds whether a field gets a schema of which anything was kept before.
func (s schemas) named(path string, now *apiextensionsv1.JSONSchemaProps) {
	refused, dropped, all := false, false, true
	probe := schemas{bad: func(string, string, ...any) { refused = true }, lost: func(string, string, ...any) { dropped = true }}
	probe.compare("", &apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: &all}, now)
	switch {
	case dropped:
		s.lost(path, "anything was kept there, and what the schema does not have is dropped now")
	case refused:
		s.bad(path, "anything was kept there, and a schema is there now")
	}
}

func (s schemas) additional(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	before, now := was.AdditionalProperties, is.AdditionalProperties
	switch {
	case before == nil:
	case now == nil:
		if !preserves(is) && (before.Allows || before.Schema != nil) {
			s.lost(path+"[*]", "fields with any name are no longer kept")
		}
	case before.Schema != nil && now.Schema != nil:
		s.compare(path+"[*]", before.Schema, now.Schema)
	case before.Schema == nil && before.Allows && now.Schema != nil:
		s.bad(path+"[*]", "anything was allowed, and a schema is there now")
	}
}

// types are what makes a value another sort of thing.
func (s schemas) types(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	if was.Type != is.Type && !(was.Type == "integer" && is.Type == "number") {
		s.bad(path, "the type was %s and is %s", orNone([]byte(was.Type)), orNone([]byte(is.Type)))
	}
	if was.XIntOrString && !is.XIntOrString {
		s.bad(path, "was an integer or a string, and no longer is")
	}
	if was.Nullable && !is.Nullable {
		s.bad(path, "was nullable, and no longer is")
	}
	if preserves(was) && !preserves(is) && slices.Contains([]string{"", "object", "array"}, is.Type) {
		s.lost(path, "fields that the schema does not have were kept, and are dropped now")
	}
	if is.XEmbeddedResource && !was.XEmbeddedResource {
		s.bad(path, "is a whole object now: apiVersion and kind are required")
	}
	if before, now := or(was.XMapType, "granular"), or(is.XMapType, "granular"); before != now {
		s.bad(path, "the map was %s and is %s: what is applied merges otherwise", before, now)
	}
	if before, now := or(was.XListType, "atomic"), or(is.XListType, "atomic"); before != now || !slices.Equal(was.XListMapKeys, is.XListMapKeys) {
		s.bad(path, "the list was of the type %s %v and is of %s %v: what is applied merges otherwise", before, was.XListMapKeys, now, is.XListMapKeys)
	}
}

func or(of *string, otherwise string) string {
	if of == nil {
		return otherwise
	}
	return *of
}

// tighter are numbers that bound a value.
func (s schemas) tighter(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	less(s, path, "maximum", was.Maximum, is.Maximum, -1)
	less(s, path, "minimum", was.Minimum, is.Minimum, 1)
	less(s, path, "maxLength", was.MaxLength, is.MaxLength, -1)
	less(s, path, "minLength", was.MinLength, is.MinLength, 1)
	less(s, path, "maxItems", was.MaxItems, is.MaxItems, -1)
	less(s, path, "minItems", was.MinItems, is.MinItems, 1)
	less(s, path, "maxProperties", was.MaxProperties, is.MaxProperties, -1)
	less(s, path, "minProperties", was.MinProperties, is.MinProperties, 1)
	if is.MultipleOf != nil && (was.MultipleOf == nil || *was.MultipleOf != *is.MultipleOf) {
		s.bad(path, "has to be a multiple of %v now", *is.MultipleOf)
	}
	flag := func(name string, was, is bool) {
		if is && !was {
			s.bad(path, "%s is there now", name)
		}
	}
	flag("exclusiveMaximum", was.ExclusiveMaximum, is.ExclusiveMaximum)
	flag("exclusiveMinimum", was.ExclusiveMinimum, is.ExclusiveMinimum)
	flag("uniqueItems", was.UniqueItems, is.UniqueItems)
	other := func(name string, same, there bool) {
		if there && !same { // whether it allows less is not for a program to say
			s.bad(path, "%s is another one", name)
		}
	}
	other("allOf", reflect.DeepEqual(was.AllOf, is.AllOf), len(is.AllOf) > 0)
	other("anyOf", reflect.DeepEqual(was.AnyOf, is.AnyOf), len(is.AnyOf) > 0)
	other("oneOf", reflect.DeepEqual(was.OneOf, is.OneOf), len(is.OneOf) > 0)
	other("not", reflect.DeepEqual(was.Not, is.Not), is.Not != nil)
}

// less finds a bound that allows less: in the direction of sign.
func less[N int64 | float64](s schemas, path, name string, was, is *N, sign int) {
	switch {
	case is == nil:
	case was == nil:
		s.bad(path, "%s is %v now", name, *is)
	case cmp.Compare(*is, *was) == sign:
		s.bad(path, "%s was %v and is %v", name, *was, *is)
	}
}

// texts are rules about what a value looks like.
func (s schemas) texts(path string, was, is *apiextensionsv1.JSONSchemaProps) {
	if is.Pattern != was.Pattern && is.Pattern != "" {
		s.bad(path, "the pattern was %s and is %s", orNone([]byte(was.Pattern)), is.Pattern)
	}
	if is.Format != was.Format && is.Format != "" {
		s.bad(path, "the format was %s and is %s", orNone([]byte(was.Format)), is.Format)
	}
	for _, value := range was.Enum {
		if len(is.Enum) > 0 && !slices.ContainsFunc(is.Enum, func(v apiextensionsv1.JSON) bool { return bytes.Equal(v.Raw, value.Raw) }) {
			s.bad(path, "the value %s is not allowed any more", value.Raw)
		}
	}
	if len(was.Enum) == 0 && len(is.Enum) > 0 {
		s.bad(path, "only some values are allowed now")
	}
	for _, rule := range is.XValidations {
		if !slices.ContainsFunc(was.XValidations, func(r apiextensionsv1.ValidationRule) bool { return r.Rule == rule.Rule }) {
			s.bad(path, "the rule is new: %s", rule.Rule)
		}
	}
}

func preserves(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

func raw(v *apiextensionsv1.JSON) []byte {
	if v == nil {
		return nil
	}
	return v.Raw
}

func orNone(text []byte) string {
	if len(text) == 0 {
		return "none"
	}
	return string(text)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
