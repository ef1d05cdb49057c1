package openapi

import (
	"fmt"
	"strings"
	"sync"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// groupVersion is the version 3 document of one group version.
type groupVersion struct {
	kinds []*kind
	hash  func() string
	forms
}

func newGroupVersion(kinds []*kind, report func(error)) *groupVersion {
	gv := &groupVersion{kinds: kinds, hash: sync.OnceValue(func() string { return hashOf(kinds) })}
	gv.forms = newForms(gv.hash, func() ([]byte, error) { return mergeV3(kinds).MarshalJSON() }, handler3.ToV3ProtoBinary, report)
	return gv
}

// whole is the version 2 document of everything.
type whole struct {
	kinds []*kind
	forms
}

func newWhole(kinds []*kind, report func(error)) *whole {
	hash := sync.OnceValue(func() string { return hashOf(kinds) })
	return &whole{kinds, newForms(hash, func() ([]byte, error) { return mergeV2(kinds).MarshalJSON() }, v2ToProtobuf, report)}
}

// hashOf is known before any document is made, so that clients that have one
// already cost next to nothing.
func hashOf(kinds []*kind) string {
	var all strings.Builder
	for _, k := range kinds {
		all.WriteString(k.hash())
	}
	return digest([]byte(all.String()))
}

// forms are the encodings of a document, each made once. One that cannot be
// made is empty, and why is reported.
type forms struct {
	hashOf   func() string
	json     func() []byte
	protobuf func() []byte
}

func newForms(hash func() string, marshal func() ([]byte, error), convert func([]byte) ([]byte, error), report func(error)) forms {
	f := forms{hashOf: hash}
	f.json = sync.OnceValue(func() []byte {
		body, err := marshal()
		if err != nil {
			report(fmt.Errorf("an OpenAPI document as JSON: %w", err))
			return nil
		}
		return body
	})
	f.protobuf = sync.OnceValue(func() []byte {
		text := f.json()
		if len(text) == 0 {
			return nil
		}
		body, err := convert(text)
		if err != nil {
			report(fmt.Errorf("an OpenAPI document as protobuf: %w", err))
			return nil
		}
		return body
	})
	return f
}

func (f *forms) encoded(form string) *encoded {
	if form == mediaJSON {
		return &encoded{f.json(), f.hashOf()}
	}
	return &encoded{f.protobuf(), f.hashOf()}
}

// mergeV3 joins the documents of the kinds. What several have, such as
// metadata, is the same in all of them.
func mergeV3(kinds []*kind) *spec3.OpenAPI {
	out := &spec3.OpenAPI{
		Version:    "3.0.0",
		Info:       info(),
		Paths:      &spec3.Paths{Paths: map[string]*spec3.Path{}},
		Components: &spec3.Components{Schemas: map[string]*spec.Schema{}},
	}
	for _, k := range kinds {
		doc := k.v3()
		if doc == nil {
			continue
		}
		for path, item := range doc.Paths.Paths {
			out.Paths.Paths[path] = item
		}
		if doc.Components == nil {
			continue
		}
		for name, schema := range doc.Components.Schemas {
			out.Components.Schemas[name] = schema
		}
	}
	return out
}

func mergeV2(kinds []*kind) *spec.Swagger {
	out := &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        info(),
		Paths:       &spec.Paths{Paths: map[string]spec.PathItem{}},
		Definitions: spec.Definitions{},
	}}
	for _, k := range kinds {
		doc := k.v2()
		if doc == nil {
			continue
		}
		for path, item := range doc.Paths.Paths {
			out.Paths.Paths[path] = item
		}
		// The first one stays: built-in kinds come first, so a custom resource
		// cannot take over the name of one of theirs.
		for name, schema := range doc.Definitions {
			if _, ok := out.Definitions[name]; !ok {
				out.Definitions[name] = schema
			}
		}
		for name, parameter := range doc.Parameters {
			if out.Parameters == nil {
				out.Parameters = map[string]spec.Parameter{}
			}
			out.Parameters[name] = parameter
		}
	}
	return out
}

func info() *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: "wasmgate", Version: "v1"}}
}

func v2ToProtobuf(text []byte) ([]byte, error) {
	doc, err := openapiv2.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(doc)
}
