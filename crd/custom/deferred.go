package custom

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wasmgate/wasmgate/crd"
)

// CompileLazily makes the definition that serves the custom resources of c,
// whose versions come without their schemas: those are in schemas. What a
// schema is compiled to, which is large, is made when a version is first used,
// and only if it was not made for previous, a former state of the definition or
// nil. The result shares memory with c.
//
// It fails as [Compile] does, but for what is wrong with a schema: that fails
// each use of the version. When there is a previous definition, the versions
// that changed are compiled at once, so that a caller can go on with that one.
func CompileLazily(c *apiextensionsv1.CustomResourceDefinition, schemas [][]byte, previous *crd.Definition) (*crd.Definition, error) {
	return assemble(c, func(i int, d *crd.Definition) (*crd.Version, error) {
		v := &c.Spec.Versions[i]
		digest, err := fingerprint(c, v, d, schemas[i])
		if err != nil {
			return nil, err
		}
		made := madeFor(previous, v.Name, digest)
		if made == nil {
			made = &compiled{digest: digest, parts: sync.OnceValues(func() (*parts, error) { return compileText(c, *v, d, schemas[i]) })}
			if previous != nil {
				if _, err := made.parts(); err != nil {
					return nil, err
				}
			}
		}
		out, err := newVersion(c, v, made)
		if err == nil {
			out.SchemaText = schemas[i]
		}
		return out, err
	})
}

// compiled is what a version's schema is compiled to, on first use.
type compiled struct {
	digest [sha256.Size]byte
	parts  func() (*parts, error)
}

// fingerprint tells apart whatever is compiled differently. What an outline
// holds is not compiled.
func fingerprint(c *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion, d *crd.Definition, schema []byte) ([sha256.Size]byte, error) {
	text, err := json.Marshal(struct {
		Name             string
		Subresources     *apiextensionsv1.CustomResourceSubresources
		Selectable       []apiextensionsv1.SelectableField
		Group, Kind      string
		Namespaced, Keep bool
		Schema           [sha256.Size]byte
	}{v.Name, v.Subresources, v.SelectableFields, d.Group, d.Kind, d.Namespaced, c.Spec.PreserveUnknownFields, sha256.Sum256(schema)})
	return sha256.Sum256(text), err
}

// madeFor is what was made for an equal version of previous; nil when there is
// none.
func madeFor(previous *crd.Definition, name string, digest [sha256.Size]byte) *compiled {
	if previous == nil {
		return nil
	}
	v := previous.Version(name)
	if v == nil {
		return nil
	}
	if s, ok := v.Shape.(*deferredShape); ok && s.digest == digest {
		return s.compiled
	}
	return nil
}

func compileText(c *apiextensionsv1.CustomResourceDefinition, v apiextensionsv1.CustomResourceDefinitionVersion, d *crd.Definition, text []byte) (*parts, error) {
	if len(text) > 0 {
		schema, err := crd.ReadSchema(text)
		if err != nil {
			return nil, fmt.Errorf("version %s of %s: %w", v.Name, d.GroupResource(), err)
		}
		v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema}
	}
	out, err := compileParts(c, &v, d)
	if err != nil {
		return nil, fmt.Errorf("version %s of %s: %w", v.Name, d.GroupResource(), err)
	}
	return out, nil
}

// deferredShape is the shape of a version that is compiled on first use.
type deferredShape struct{ *compiled }

func (s *deferredShape) FromClient(obj map[string]any, strict bool) ([]string, error) {
	p, err := s.parts()
	if err != nil {
		return nil, err
	}
	return p.shape.FromClient(obj, strict)
}

func (s *deferredShape) FromStorage(obj map[string]any) error {
	return s.complete(obj, (*shape).FromStorage)
}

func (s *deferredShape) FromMerge(obj map[string]any) error {
	return s.complete(obj, (*shape).FromMerge)
}

func (s *deferredShape) FromConversion(obj map[string]any) error {
	return s.complete(obj, (*shape).FromConversion)
}

func (s *deferredShape) FromPart(obj map[string]any) error {
	return s.complete(obj, (*shape).FromPart)
}

// complete does to an object what the compiled shape does.
func (s *deferredShape) complete(obj map[string]any, how func(*shape, map[string]any) error) error {
	p, err := s.parts()
	if err != nil {
		return err
	}
	return how(p.shape, obj)
}

func (s *deferredShape) Canonical(obj map[string]any) bool {
	p, err := s.parts()
	return err == nil && p.shape.Canonical(obj)
}

func (s *deferredShape) unchanged(data []byte) bool {
	p, err := s.parts()
	return err == nil && p.shape.unchanged(data)
}
