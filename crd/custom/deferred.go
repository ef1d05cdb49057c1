package custom

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

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
			made = &compiled{digest: digest, version: sync.OnceValues(func() (*crd.Version, error) {
				return compileText(c, *v, d, schemas[i])
			})}
			if previous != nil {
				if _, err := made.version(); err != nil {
					return nil, err
				}
			}
		}
		return deferred(c, v, d, schemas[i], made)
	})
}

// compiled is a version that is compiled on first use.
type compiled struct {
	digest  [sha256.Size]byte
	version func() (*crd.Version, error)
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

func compileText(c *apiextensionsv1.CustomResourceDefinition, v apiextensionsv1.CustomResourceDefinitionVersion, d *crd.Definition, text []byte) (*crd.Version, error) {
	if len(text) > 0 {
		schema, err := crd.ReadSchema(text)
		if err != nil {
			return nil, fmt.Errorf("version %s of %s: %w", v.Name, d.GroupResource(), err)
		}
		v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema}
	}
	out, err := compileVersion(c, &v, d)
	if err != nil {
		return nil, fmt.Errorf("version %s of %s: %w", v.Name, d.GroupResource(), err)
	}
	out.Schema = nil // whoever needs it reads its text, and most never do
	return out, nil
}

// deferred is version v in terms of what it is compiled to.
func deferred(c *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion, d *crd.Definition, text []byte, made *compiled) (*crd.Version, error) {
	out := outline(c, v)
	out.Shape = &deferredShape{made}
	out.Unchanged = func(data []byte) bool {
		v, err := made.version()
		return err == nil && v.Unchanged(data)
	}
	out.SchemaText = text
	var err error
	if out.SelectableFields, out.Fields, err = selectableFields(v.SelectableFields); err != nil {
		return nil, err
	}
	strategy := &deferredStrategy{names.SimpleNameGenerator, newDeferredUpdate(d.Namespaced, made, func(v *crd.Version) rest.RESTUpdateStrategy { return v.Strategy })}
	status := newDeferredUpdate(d.Namespaced, made, func(v *crd.Version) rest.RESTUpdateStrategy { return v.Subresources["status"].Update })
	out.Strategy = strategy
	out.Subresources = subresourcesOf(v.Subresources, strategy, status)
	return out, nil
}

// deferredShape is the shape of a version that is compiled on first use.
type deferredShape struct{ *compiled }

func (s *deferredShape) FromClient(obj map[string]any, strict bool) ([]string, error) {
	v, err := s.version()
	if err != nil {
		return nil, err
	}
	return v.Shape.FromClient(obj, strict)
}

func (s *deferredShape) FromStorage(obj map[string]any) error {
	v, err := s.version()
	if err != nil {
		return err
	}
	return v.Shape.FromStorage(obj)
}

func (s *deferredShape) Settled(obj map[string]any) bool {
	v, err := s.version()
	return err == nil && v.Shape.Settled(obj)
}

func (s *deferredShape) FromMerge(obj map[string]any) error {
	v, err := s.version()
	if err != nil {
		return err
	}
	return v.Shape.FromMerge(obj)
}

func (s *deferredShape) FromConversion(obj map[string]any) error {
	v, err := s.version()
	if err != nil {
		return err
	}
	return v.Shape.FromConversion(obj)
}

// deferredUpdate is an update strategy of a version that is compiled on first
// use. Objects get to it by the version's shape, so a schema that cannot be
// compiled has failed before.
type deferredUpdate struct {
	alike
	made *compiled
	of   func(*crd.Version) rest.RESTUpdateStrategy
}

func newDeferredUpdate(namespaced bool, made *compiled, of func(*crd.Version) rest.RESTUpdateStrategy) *deferredUpdate {
	return &deferredUpdate{newAlike(namespaced), made, of}
}

// strategy is the compiled strategy.
func (s *deferredUpdate) strategy() (rest.RESTUpdateStrategy, error) {
	v, err := s.made.version()
	if err != nil {
		return nil, err
	}
	return s.of(v), nil
}

func (s *deferredUpdate) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	if made, err := s.strategy(); err == nil {
		made.PrepareForUpdate(ctx, obj, old)
	}
}

func (s *deferredUpdate) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	made, err := s.strategy()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return made.ValidateUpdate(ctx, obj, old)
}

func (s *deferredUpdate) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	made, err := s.strategy()
	if err != nil {
		return nil
	}
	return made.WarningsOnUpdate(ctx, obj, old)
}

// GetResetFields returns the fields that a write through this strategy cannot
// change.
func (s *deferredUpdate) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	made, err := s.strategy()
	if r, ok := made.(rest.ResetFieldsStrategy); err == nil && ok {
		return r.GetResetFields()
	}
	return nil
}

// AcceptUpdate is lazyUpdate's.
func (s *deferredUpdate) AcceptUpdate(ctx context.Context, namespace string, obj, old *unstructured.Unstructured) bool {
	made, err := s.strategy()
	if err != nil {
		return false
	}
	fast, ok := made.(interface {
		AcceptUpdate(ctx context.Context, namespace string, obj, old *unstructured.Unstructured) bool
	})
	return ok && fast.AcceptUpdate(ctx, namespace, obj, old)
}

// deferredStrategy adds creation.
type deferredStrategy struct {
	names.NameGenerator
	*deferredUpdate
}

func (s *deferredStrategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	if v, err := s.made.version(); err == nil {
		v.Strategy.PrepareForCreate(ctx, obj)
	}
}

func (s *deferredStrategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	v, err := s.made.version()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return v.Strategy.Validate(ctx, obj)
}

func (s *deferredStrategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	v, err := s.made.version()
	if err != nil {
		return nil
	}
	return v.Strategy.WarningsOnCreate(ctx, obj)
}

// AcceptCreate is lazyStrategy's.
func (s *deferredStrategy) AcceptCreate(namespace string, obj *unstructured.Unstructured) bool {
	v, err := s.made.version()
	if err != nil {
		return false
	}
	fast, ok := v.Strategy.(*lazyStrategy)
	return ok && fast.AcceptCreate(namespace, obj)
}
