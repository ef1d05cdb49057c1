package custom

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// accepts reports that an object is valid, a new one where old is nil, else a change
// of all of it or of its status.
func (q *quick) accepts(obj, old *unstructured.Unstructured) bool {
	meta, ok := obj.Object["metadata"].(map[string]any)
	if !ok || !q.acceptsContent(obj.Object) {
		return false
	}
	if old == nil {
		return q.acceptsNew(meta)
	}
	was, ok := old.Object["metadata"].(map[string]any)
	return ok && acceptsChanged(meta, was)
}

func (q *quick) acceptsContent(obj map[string]any) bool {
	return q.sure && obj["kind"] == any(q.kind) && obj["apiVersion"] == any(q.apiVersion) &&
		q.rule.accepts(obj) && q.lists.accepts(obj)
}
