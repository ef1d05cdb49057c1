package accept

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Object accepts valid objects of a version without asking the library's strategies,
// which decode the metadata several times over and look for duplicates in every list.
// It is safe for concurrent use; nil accepts nothing.
type Object struct {
	apiVersion, kind string
	namespaced       bool
	rule             *Rule
	lists            *lists // nil: none has to be checked
}

// NewObject makes what accepts objects of an apiVersion and a kind that the library
// validates by rule's schema, by s and by nothing else: a schema with rules in CEL, or
// with objects in it, says more.
func NewObject(apiVersion, kind string, namespaced bool, s *structuralschema.Structural, rule *Rule) *Object {
	return &Object{apiVersion, kind, namespaced, rule, compileLists(s)}
}

// Accepts reports that an object is valid, a new one where old is nil, else a change
// of all of it or of its status.
func (o *Object) Accepts(obj, old *unstructured.Unstructured) bool {
	meta, ok := obj.Object["metadata"].(map[string]any)
	if o == nil || !ok || !o.acceptsContent(obj.Object) {
		return false
	}
	if old == nil {
		return o.acceptsNew(meta)
	}
	was, ok := old.Object["metadata"].(map[string]any)
	return ok && acceptsChanged(meta, was)
}

func (o *Object) acceptsContent(obj map[string]any) bool {
	return obj["kind"] == any(o.kind) && obj["apiVersion"] == any(o.apiVersion) && o.rule.Accepts(obj) && o.lists.accepts(obj)
}
