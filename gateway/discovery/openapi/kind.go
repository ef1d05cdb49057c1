package openapi

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemamutation"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wasmgate/wasmgate/crd"
	crdschema "github.com/wasmgate/wasmgate/crd/schema"
	"github.com/wasmgate/wasmgate/lifecycle"
)

// kind describes one kind at one version. A kind that cannot be described has
// empty parts and is left out of documents.
type kind struct {
	def     *crd.Definition
	version *crd.Version
	at      schema.GroupVersionKind
	sortKey string

	// hash and v2 are made on first use. v3 is made again on each call: it is
	// large, and the document that it becomes a part of is kept.
	hash func() string
	v2   func() fragments
	v3   func() *spec3.OpenAPI
}

func newKind(def *crd.Definition, v *crd.Version, report func(error)) *kind {
	at := def.GVK(v.Name)
	k := &kind{def: def, version: v, at: at, sortKey: at.Group + "/" + at.Version + "/" + def.Plural}
	k.hash = sync.OnceValue(func() string {
		hash, err := k.makeHash(build())
		if err != nil {
			report(k.failed("what it is made of", err))
		}
		return hash
	})
	var reported sync.Once
	k.v3 = func() *spec3.OpenAPI {
		doc, err := made(k.makeV3)
		if err != nil {
			reported.Do(func() { report(k.failed("version 3", err)) })
		}
		return doc
	}
	k.v2 = sync.OnceValue(func() fragments {
		all, err := made(k.makeV2)
		if err != nil {
			report(k.failed("version 2", err))
			return nil
		}
		return all
	})
	return k
}

// made is what fn makes of a schema, which may be of anybody: what the library
// cannot bear is an error.
func made[D any](fn func() (D, error)) (out D, err error) {
	defer func() {
		if p := recover(); p != nil {
			var nothing D
			out, err = nothing, fmt.Errorf("the builder panicked: %v", p)
		}
	}()
	return fn()
}

func (k *kind) failed(what string, err error) error {
	return fmt.Errorf("OpenAPI of %s at %s: %s: %w", k.def.GroupResource(), k.version.Name, what, err)
}

var errNothing = errors.New("the builder made nothing of it")

// coreGroup stands for the group without a name, which the builder cannot
// handle. No real group can be called so.
const coreGroup = "core.invalid"

// manifest is the CustomResourceDefinition that the builder would have got.
func (k *kind) manifest() (*apiextensionsv1.CustomResourceDefinition, error) {
	out := k.withoutSchema()
	if k.model() != "" { // whose schema is put in afterwards
		out.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}
		return out, nil
	}
	s := k.version.OpenAPISchema()
	if text := k.version.SchemaText; len(text) > 0 && s == nil {
		_, err := crd.ReadSchema(text)
		return nil, err
	}
	if s != nil {
		out.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: s}
	}
	return out, nil
}

// withoutSchema is the manifest without the schema.
func (k *kind) withoutSchema() *apiextensionsv1.CustomResourceDefinition {
	d, v := k.def, k.version
	out := &apiextensionsv1.CustomResourceDefinition{}
	out.Spec.Group = k.at.Group
	if k.at.Group == "" {
		out.Spec.Group = coreGroup
	}
	out.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: d.Plural, Singular: d.Singular, Kind: d.Kind, ListKind: d.ListKind,
	}
	out.Spec.Scope = apiextensionsv1.ClusterScoped
	if d.Namespaced {
		out.Spec.Scope = apiextensionsv1.NamespaceScoped
	}
	version := apiextensionsv1.CustomResourceDefinitionVersion{Name: k.at.Version}
	version.Subresources = &apiextensionsv1.CustomResourceSubresources{}
	if v.Subresources["status"] != nil {
		version.Subresources.Status = &apiextensionsv1.CustomResourceSubresourceStatus{}
	}
	if s := v.Subresources["scale"]; s != nil && s.Scale != nil {
		version.Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: s.Scale.SpecReplicasPath, StatusReplicasPath: s.Scale.StatusReplicasPath,
		}
	}
	if !v.Native() {
		for _, f := range v.SelectableFields {
			version.SelectableFields = append(version.SelectableFields, apiextensionsv1.SelectableField{JSONPath: "." + f})
		}
	}
	out.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{version}
	return out
}

// unknown counts the kinds whose hash had to be made up.
var unknown atomic.Uint64

// build says what makes the descriptions: another one may make others of the same kinds.
var build = sync.OnceValue(func() string { return fmt.Sprint(lifecycle.GitVersion, lifecycle.Built()) })

// makeHash digests everything that the description is made of, and by which build. Where that
// cannot be told, because of a schema with broken raw JSON, the hash is like no
// other, so that nobody takes the description for one that it is not.
func (k *kind) makeHash(build string) (string, error) {
	subresources := map[string][]string{}
	for name, s := range k.version.Subresources {
		subresources[name] = s.Verbs
	}
	var made any
	switch {
	case k.model() != "":
		made = crdschema.Models(reflect.TypeOf(k.version.Typed()), 3)
	case len(k.version.SchemaText) == 0:
		made = k.version.OpenAPISchema()
	}
	data, err := json.Marshal(struct {
		Build        string
		Manifest     any
		Schema       any
		Text         [sha256.Size]byte
		Subresources map[string][]string
		Verbs        metav1.Verbs
		Model        string
	}{build, k.withoutSchema().Spec, made, sha256.Sum256(k.version.SchemaText), subresources, k.def.ServedVerbs(), k.model()})
	if err != nil {
		data = binary.BigEndian.AppendUint64(nil, unknown.Add(1))
	}
	return digest(append(data, k.sortKey...)), err
}

func (k *kind) makeV3() (*spec3.OpenAPI, error) {
	manifest, err := k.manifest()
	if err != nil {
		return nil, err
	}
	doc, err := builder.BuildOpenAPIV3(manifest, k.at.Version, builder.Options{IncludeSelectableFields: true})
	if err == nil && (doc == nil || doc.Paths == nil) {
		err = errNothing
	}
	if err != nil {
		return nil, err
	}
	if doc, err = renamed(k, doc); err != nil {
		return nil, err
	}
	if doc.Components != nil {
		k.describe(3, doc.Components.Schemas)
	}
	return doc, k.fitV3(doc)
}

// withoutDefaults drops defaults, which kube-apiserver publishes in version 3
// only.
var withoutDefaults = schemamutation.Walker{
	SchemaCallback: func(s *spec.Schema) *spec.Schema {
		if s.Default == nil {
			return s
		}
		out := *s
		out.Default = nil
		return &out
	},
	RefCallback: schemamutation.RefCallbackNoop,
}

func (k *kind) makeV2() (fragments, error) {
	manifest, err := k.manifest()
	if err != nil {
		return nil, err
	}
	doc, err := builder.BuildOpenAPIV2(manifest, k.at.Version, builder.Options{V2: true, IncludeSelectableFields: true})
	if err == nil && (doc == nil || doc.Paths == nil) {
		err = errNothing
	}
	if err != nil {
		return nil, err
	}
	if doc, err = renamed(k, doc); err != nil {
		return nil, err
	}
	k.fitV2(doc)
	schemas := map[string]*spec.Schema{}
	for name, s := range doc.Definitions {
		schemas[name] = &s
	}
	k.describe(2, schemas)
	for name, s := range schemas {
		doc.Definitions[name] = *withoutDefaults.WalkSchema(s)
	}
	return fragmentsOf(doc, k.own())
}

// serves tells whether the whole resource has the verb.
func (k *kind) serves(verb string) bool { return slices.Contains(k.def.ServedVerbs(), verb) }
