package openapi

import (
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wasmgate/wasmgate/crd"
	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

const strategicPatch = string(types.StrategicMergePatchType)

// fitV3 makes the document say what is really served: it drops verbs, adds the
// subresources that the builder does not know, and for kinds with a Go type
// what strategic merge patches need.
func (k *kind) fitV3(doc *spec3.OpenAPI) {
	for name, p := range doc.Paths.Paths {
		if !isItem(name) && !k.serves("deletecollection") {
			p.Delete = nil
		}
	}
	for _, s := range k.extraSubresources() {
		for name, p := range doc.Paths.Paths {
			item, ok := strings.CutSuffix(name, "/{name}/status")
			if !ok {
				continue
			}
			extra := &spec3.Path{PathProps: spec3.PathProps{Parameters: p.Parameters}}
			if slices.Contains(s.Verbs, "get") {
				extra.Get = renamedOperation(p.Get, s.Name)
			}
			if slices.Contains(s.Verbs, "update") {
				extra.Put = renamedOperation(p.Put, s.Name)
			}
			if slices.Contains(s.Verbs, "patch") {
				extra.Patch = renamedOperation(p.Patch, s.Name)
			}
			doc.Paths.Paths[item+"/{name}/"+s.Name] = extra
		}
	}
	if !k.version.Native() {
		return
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
	if doc.Components != nil {
		addPatchMeta(doc.Components.Schemas[k.model()], reflect.TypeOf(k.version.Typed()))
	}
}

// fitV2 is fitV3 for version 2.
func (k *kind) fitV2(doc *spec.Swagger) {
	for name, p := range doc.Paths.Paths {
		if !isItem(name) && !k.serves("deletecollection") {
			p.Delete = nil
		}
		if k.version.Native() && p.Patch != nil {
			p.Patch.Consumes = append(p.Patch.Consumes, strategicPatch)
		}
		doc.Paths.Paths[name] = p
	}
	if schema, ok := doc.Definitions[k.model()]; ok && k.version.Native() {
		addPatchMeta(&schema, reflect.TypeOf(k.version.Typed()))
		doc.Definitions[k.model()] = schema
	}
}

func isItem(path string) bool { return strings.Contains(path, "/{name}") }

// extraSubresources are those that the builder does not describe.
func (k *kind) extraSubresources() []*crd.Subresource {
	var out []*crd.Subresource
	for name, s := range k.version.Subresources {
		if name != "status" && name != "scale" {
			out = append(out, s)
		}
	}
	return out
}

// renamedOperation is op, which is about the status, made to be about another
// subresource.
func renamedOperation(op *spec3.Operation, subresource string) *spec3.Operation {
	if op == nil {
		return nil
	}
	out := *op
	title := strings.ToUpper(subresource[:1]) + subresource[1:]
	out.OperationId = strings.TrimSuffix(op.OperationId, "Status") + title
	out.Description = strings.Replace(op.Description, " status of ", " "+subresource+" of ", 1)
	return &out
}

// addPatchMeta writes the strategic merge patch tags of Go type t into its
// schema.
func addPatchMeta(s *spec.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s == nil || t.Kind() != reflect.Struct || len(s.Properties) == 0 {
		return
	}
	for _, f := range crdschema.Fields(t) {
		p, ok := s.Properties[f.Name]
		if !ok || p.Ref.String() != "" {
			continue
		}
		if f.PatchStrategy != "" {
			p.AddExtension("x-kubernetes-patch-strategy", f.PatchStrategy)
		}
		if f.PatchMergeKey != "" {
			p.AddExtension("x-kubernetes-patch-merge-key", f.PatchMergeKey)
		}
		elem := f.Type
		for elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		switch {
		case elem.Kind() == reflect.Slice && p.Items != nil:
			addPatchMeta(p.Items.Schema, elem.Elem())
		case elem.Kind() == reflect.Map && p.AdditionalProperties != nil:
			addPatchMeta(p.AdditionalProperties.Schema, elem.Elem())
		default:
			addPatchMeta(&p, elem)
		}
		s.Properties[f.Name] = p
	}
}
