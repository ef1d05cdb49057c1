package openapi

import (
	"encoding/json"
	"fmt"

	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// What the library cannot put into protobuf is left out there, and costs nothing else: a
// schema that others refer to says no more than of which kinds it is.

// inProtobuf is the fragment that is there in protobuf: mostly f; nil for none.
func (f *fragment) inProtobuf(report func(error)) *fragment {
	_, err := f.protobuf()
	if err == nil {
		return f
	}
	f.reported.Do(func() { report(fmt.Errorf("OpenAPI version 2 as protobuf, where it is left out: %.500w", err)) })
	switch f.section {
	case definitionSection:
		if bare, err := f.bare(); err == nil {
			return bare
		}
		return f
	case pathSection: // to which nothing refers
		return nil
	}
	return f
}

// bare is a definition of which only its kinds are left.
func (f *fragment) bare() (*fragment, error) {
	tree, err := f.tree()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(bareSchema(kindsOf(tree)))
	if err != nil {
		return nil, err
	}
	return newFragment(f.section, f.name, text)
}

// bareSchema is a schema of objects of some kinds, or of none.
func bareSchema(kinds []any) *spec.Schema {
	s := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
	if len(kinds) > 0 {
		s.AddExtension(kindsKey, kinds)
	}
	return s
}

// protobuf3 puts a document of version 3 into protobuf, text as long as that can be done.
func protobuf3(text []byte, again func() *spec3.OpenAPI, report func(error)) ([]byte, error) {
	giving.Lock()
	defer giving.Unlock()
	out, err := asProtobuf3(text)
	if err == nil {
		return out, nil
	}
	doc := again()
	for name, schema := range doc.Components.Schemas {
		alone := &spec3.OpenAPI{Version: doc.Version, Info: doc.Info, Paths: &spec3.Paths{}, Components: &spec3.Components{Schemas: map[string]*spec.Schema{name: schema}}}
		text, why := alone.MarshalJSON()
		if why == nil {
			_, why = asProtobuf3(text)
		}
		if why != nil {
			report(fmt.Errorf("OpenAPI version 3 as protobuf, where it is left out: %s: %.500w", name, why))
			kinds, _ := schema.Extensions[kindsKey].([]any)
			doc.Components.Schemas[name] = bareSchema(kinds)
		}
	}
	if text, err = doc.MarshalJSON(); err != nil {
		return nil, err
	}
	return asProtobuf3(text)
}

// asProtobuf3 is a document of version 3 in protobuf.
func asProtobuf3(text []byte) ([]byte, error) {
	return made(func() ([]byte, error) { return handler3.ToV3ProtoBinary(readable(text)) })
}
