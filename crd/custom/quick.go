package custom

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// quick accepts valid objects without asking the library's strategies, which
// decode the metadata several times over and look for duplicates in every list.
// What it accepts they would accept; what it does not accept may be valid as
// well.
type quick struct {
	// sure is false where the schema asks for more than is known here.
	sure             bool
	apiVersion, kind string
	namespaced       bool
	rule             *rule
	lists            *lists // nil: none has to be checked
	quantities       bool   // rules read some
}

// newQuick compiles the acceptance of whole objects; the library validates them
// by validator, by s, and by what the schema in says besides.
func newQuick(apiVersion, kind string, namespaced bool, in *apiextensions.JSONSchemaProps, s *structural, validator *quickValidator) *quick {
	more := func(p *apiextensions.JSONSchemaProps) bool { return p.XEmbeddedResource || len(p.XValidations) > 0 }
	return &quick{
		sure:       !anywhere(in, more),
		apiVersion: apiVersion, kind: kind, namespaced: namespaced,
		rule: validator.rule, lists: compileLists(s), quantities: anywhere(in, readsQuantities),
	}
}

// anywhere tells whether a schema, or one inside of it, has a property.
func anywhere(in *apiextensions.JSONSchemaProps, has func(*apiextensions.JSONSchemaProps) bool) bool {
	if in == nil {
		return false
	}
	if has(in) || anywhere(in.Not, has) {
		return true
	}
	inside := [][]apiextensions.JSONSchemaProps{in.AllOf, in.AnyOf, in.OneOf}
	if in.Items != nil {
		inside = append(inside, in.Items.JSONSchemas)
		if anywhere(in.Items.Schema, has) {
			return true
		}
	}
	for _, list := range inside {
		for i := range list {
			if anywhere(&list[i], has) {
				return true
			}
		}
	}
	for _, p := range in.Properties {
		if anywhere(&p, has) {
			return true
		}
	}
	return in.AdditionalProperties != nil && anywhere(in.AdditionalProperties.Schema, has)
}

// accepts reports that a new object is valid.
func (q *quick) accepts(obj runtime.Object) bool {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || !q.acceptsContent(u.Object) {
		return false
	}
	meta, ok := u.Object["metadata"].(map[string]any)
	return ok && q.acceptsNew(meta)
}

// acceptsUpdate reports that a change of an object is valid, of all of it or of
// its status.
func (q *quick) acceptsUpdate(obj, old runtime.Object) bool {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok || !q.acceptsContent(u.Object) {
		return false
	}
	before, ok := old.(*unstructured.Unstructured)
	if !ok {
		return false
	}
	meta, ok := u.Object["metadata"].(map[string]any)
	if !ok {
		return false
	}
	was, ok := before.Object["metadata"].(map[string]any)
	return ok && acceptsChanged(meta, was)
}

func (q *quick) acceptsContent(obj map[string]any) bool {
	return q.sure && obj["kind"] == any(q.kind) && obj["apiVersion"] == any(q.apiVersion) &&
		q.rule.accepts(obj) && q.lists.accepts(obj)
}
