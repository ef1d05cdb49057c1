package openapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/wasmgate/wasmgate/crd"
	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

// addSubresources describes the subresources that the builder does not know, after what
// it says of the object and of its status.
func (k *kind) addSubresources(doc *spec3.OpenAPI) error {
	for name, item := range maps.Clone(doc.Paths.Paths) {
		collection, ok := strings.CutSuffix(name, "/"+k.def.Plural+"/{name}")
		if !ok {
			continue
		}
		for _, s := range k.extraSubresources() {
			if p := k.connection(s, item, doc.Paths.Paths[name+"/status"]); p != nil {
				doc.Paths.Paths[name+"/"+s.Name] = p
				continue
			}
			p := &spec3.Path{PathProps: spec3.PathProps{Parameters: item.Parameters}}
			if status := doc.Paths.Paths[name+"/status"]; status != nil {
				p.Get = k.about(s, "get", status.Get)
				p.Put = k.about(s, "update", status.Put)
				p.Patch = k.about(s, "patch", status.Patch)
			}
			if create := doc.Paths.Paths[collection+"/"+k.def.Plural]; create != nil {
				post, err := k.created(s, create.Post, doc)
				if err != nil {
					return err
				}
				p.Post = post
			}
			doc.Paths.Paths[name+"/"+s.Name] = p
		}
	}
	return nil
}

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

// about is an operation on the status made to be one on another subresource, nil if that
// has no such verb.
func (k *kind) about(s *crd.Subresource, verb string, op *spec3.Operation) *spec3.Operation {
	if op == nil || !slices.Contains(s.Verbs, verb) {
		return nil
	}
	out := *op
	out.OperationId = strings.TrimSuffix(op.OperationId, "Status") + title(s.Name)
	out.Description = strings.Replace(op.Description, " status of ", " "+s.Name+" of ", 1)
	return &out
}

func title(subresource string) string { return strings.ToUpper(subresource[:1]) + subresource[1:] }

// created is how a subresource is created whose body is of a kind of its own, by how the
// object is; nil if it is not.
func (k *kind) created(s *crd.Subresource, op *spec3.Operation, doc *spec3.OpenAPI) (*spec3.Operation, error) {
	if op == nil || doc.Components == nil || !slices.Contains(s.Verbs, "create") || s.Body == nil || !s.Body.Versions[0].Native() {
		return nil, nil
	}
	typ := reflect.TypeOf(s.Body.Versions[0].Typed())
	for name, model := range crdschema.Models(typ, 3) {
		if doc.Components.Schemas[name] == nil {
			doc.Components.Schemas[name] = model
		}
	}
	text, err := json.Marshal(op)
	if err != nil {
		return nil, err
	}
	out := &spec3.Operation{}
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("/"+k.model()+`"`), []byte("/"+crdschema.ModelName(typ)+`"`)), out); err != nil {
		return nil, err
	}
	out.OperationId = op.OperationId + title(s.Name)
	out.Description = "create " + s.Name + " of a " + k.def.Kind
	out.AddExtension("x-kubernetes-group-version-kind", map[string]string{"group": s.Kind.Group, "version": s.Kind.Version, "kind": s.Kind.Kind})
	return out, nil
}
