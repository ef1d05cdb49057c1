package openapi

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

const strategicPatch = string(types.StrategicMergePatchType)

// fitV3 makes the document say what is really served: it drops what is not, adds the
// subresources that the builder does not know, and for kinds with a Go type
// strategic merge patches.
func (k *kind) fitV3(doc *spec3.OpenAPI) error {
	for name, p := range doc.Paths.Paths {
		if !keep(k.verbsAt(name), &p.Get, &p.Post, &p.Put, &p.Patch, &p.Delete) {
			delete(doc.Paths.Paths, name)
		}
		if p.Delete != nil && k.answersDeleted(name) {
			for _, r := range p.Delete.Responses.StatusCodeResponses {
				for _, media := range r.Content {
					media.Schema = spec.RefSchema("#/components/schemas/" + k.model())
				}
			}
		}
	}
	if err := k.addSubresources(doc); err != nil || !k.version.Native() {
		return err
	}
	for _, p := range doc.Paths.Paths {
		if p.Patch == nil || p.Patch.RequestBody == nil {
			continue
		}
		content := p.Patch.RequestBody.Content
		if merge := content[string(types.MergePatchType)]; merge != nil {
			content[strategicPatch] = merge
		}
	}
	return nil
}

// fitV2 is fitV3 for version 2.
func (k *kind) fitV2(doc *spec.Swagger) {
	for name, p := range doc.Paths.Paths {
		if !keep(k.verbsAt(name), &p.Get, &p.Post, &p.Put, &p.Patch, &p.Delete) {
			delete(doc.Paths.Paths, name)
			continue
		}
		if p.Delete != nil && k.answersDeleted(name) {
			for code, r := range p.Delete.Responses.StatusCodeResponses {
				if r.Schema != nil {
					r.Schema = spec.RefSchema("#/definitions/" + k.model())
					p.Delete.Responses.StatusCodeResponses[code] = r
				}
			}
		}
		if k.version.Native() && p.Patch != nil {
			p.Patch.Consumes = append(p.Patch.Consumes, strategicPatch)
		}
		doc.Paths.Paths[name] = p
	}
}

// answersDeleted tells that who deletes at a path of the builder's is told what was deleted,
// and not only that it was.
func (k *kind) answersDeleted(path string) bool {
	return k.def.ReturnsDeleted && k.model() != "" && strings.HasSuffix(path, "/"+k.def.Plural+"/{name}")
}

// verbsAt are the verbs that are served at a path of the builder's.
func (k *kind) verbsAt(path string) []string {
	_, rest, item := strings.Cut(path, "/"+k.def.Plural+"/{name}")
	if subresource := strings.TrimPrefix(rest, "/"); subresource != "" {
		if s := k.version.Subresources[subresource]; s != nil {
			return s.Verbs
		}
		return nil
	}
	whole := []string{"list", "create", "deletecollection"}
	if item {
		whole = []string{"get", "update", "patch", "delete"}
	}
	return slices.DeleteFunc(whole, func(verb string) bool { return !k.serves(verb) })
}

// keep takes away the operations that none of the verbs does, and tells whether any is left.
func keep[O any](verbs []string, get, post, put, patch, remove **O) (left bool) {
	for op, by := range map[**O][]string{
		get: {"get", "list"}, post: {"create"}, put: {"update"}, patch: {"patch"}, remove: {"delete", "deletecollection"},
	} {
		if !slices.ContainsFunc(by, func(verb string) bool { return slices.Contains(verbs, verb) }) {
			*op = nil
		}
		left = left || *op != nil
	}
	return left
}

// describe gives a kind with a Go type the schemas of its type, beside those that the
// builder made of what all kinds have.
func (k *kind) describe(version int, schemas map[string]*spec.Schema) {
	model := k.model()
	if model == "" {
		return
	}
	for name, s := range crdschema.Models(reflect.TypeOf(k.version.Typed()), version) {
		switch made := schemas[name]; {
		case name == model && made != nil:
			for key, value := range made.Extensions {
				s.AddExtension(key, value) // which kind it is
			}
			schemas[name] = s
		case made == nil:
			schemas[name] = s
		}
	}
	if !k.serves("list") {
		delete(schemas, model+"List")
	}
}
