package openapi

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// groupVersion is the version 3 document of one group version.
type groupVersion struct {
	kinds []*kind
	hash  func() string
	// large: it is too much for the library to put it into protobuf.
	large func() bool
	forms
}

func newGroupVersion(kinds []*kind, report func(error)) *groupVersion {
	gv := &groupVersion{kinds: kinds, hash: sync.OnceValue(func() string { return hashOf(kinds) })}
	gv.forms = newForms(gv.hash, func() (Body, error) { return inOne(mergeV3(kinds).MarshalJSON()) }, func() (Body, error) {
		text := gv.json().Joined()
		if len(text) == 0 {
			return nil, nil
		}
		return inOne(protobuf3(text, func() *spec3.OpenAPI { return mergeV3(kinds) }, report))
	}, report)
	gv.large = sync.OnceValue(func() bool {
		_, values := Extent(gv.json().Joined())
		return values > maxValues
	})
	return gv
}

// negotiate returns the best of the forms that there are, or "" for none.
func (gv *groupVersion) negotiate(accept string) string {
	form := negotiate(accept, v3Protobuf)
	if form == v3Protobuf && gv.large() {
		return negotiate(accept, "")
	}
	return form
}

// inOne is a document in one piece.
func inOne(text []byte, err error) (Body, error) { return Body{text}, err }

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
	json     func() Body
	protobuf func() Body
}

func newForms(hash func() string, json, protobuf func() (Body, error), report func(error)) forms {
	once := func(form string, make func() (Body, error)) func() Body {
		return sync.OnceValue(func() Body {
			body, err := made(make)
			if err != nil {
				report(fmt.Errorf("an OpenAPI document as %s: %w", form, err))
				return nil
			}
			return body
		})
	}
	return forms{hash, once("JSON", json), once("protobuf", protobuf)}
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

func info() *spec.Info {
	return &spec.Info{InfoProps: spec.InfoProps{Title: "wasmgate", Version: "v1"}}
}
