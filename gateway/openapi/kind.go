package openapi

import (
	"encoding/json"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wasmgate/wasmgate/crd"
)

// kind describes one kind at one version. Its parts are made on first use; a
// kind that cannot be described has empty parts and is left out of documents.
type kind struct {
	def     *crd.Definition
	version *crd.Version
	sortKey string

	hash func() string
	v3   func() *spec3.OpenAPI
	v2   func() *spec.Swagger
}

func newKind(def *crd.Definition, v *crd.Version) *kind {
	k := &kind{def: def, version: v, sortKey: def.Group + "/" + v.Name + "/" + def.Plural}
	k.hash = sync.OnceValue(k.makeHash)
	k.v3 = sync.OnceValue(k.makeV3)
	k.v2 = sync.OnceValue(k.makeV2)
	return k
}

// coreGroup stands for the group without a name, which the builder cannot
// handle. No real group can be called so.
const coreGroup = "core.invalid"

// manifest is the CustomResourceDefinition that the builder would have got.
func (k *kind) manifest() *apiextensionsv1.CustomResourceDefinition {
	d, v := k.def, k.version
	out := &apiextensionsv1.CustomResourceDefinition{}
	out.Spec.Group = d.Group
	if d.Group == "" {
		out.Spec.Group = coreGroup
	}
	out.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: d.Plural, Singular: d.Singular, Kind: d.Kind, ListKind: d.ListKind,
	}
	out.Spec.Scope = apiextensionsv1.ClusterScoped
	if d.Namespaced {
		out.Spec.Scope = apiextensionsv1.NamespaceScoped
	}
	version := apiextensionsv1.CustomResourceDefinitionVersion{Name: v.Name, Served: true, Storage: true}
	if v.Schema != nil {
		version.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: v.Schema}
	}
	version.Subresources = &apiextensionsv1.CustomResourceSubresources{}
	if v.Subresources["status"] != nil {
		version.Subresources.Status = &apiextensionsv1.CustomResourceSubresourceStatus{}
	}
	if s := v.Subresources["scale"]; s != nil && s.Scale != nil {
		version.Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: s.Scale.SpecReplicasPath, StatusReplicasPath: s.Scale.StatusReplicasPath,
		}
	}
	if v.Typed == nil {
		for _, f := range v.SelectableFields {
			version.SelectableFields = append(version.SelectableFields, apiextensionsv1.SelectableField{JSONPath: "." + f})
		}
	}
	out.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{version}
	return out
}

// makeHash digests everything that the description is made of.
func (k *kind) makeHash() string {
	subresources := map[string][]string{}
	for name, s := range k.version.Subresources {
		subresources[name] = s.Verbs
	}
	// Marshalling fails only on a schema with broken raw JSON; what is left
	// still tells kinds apart.
	data, _ := json.Marshal(struct {
		Manifest     any
		Subresources map[string][]string
		Verbs        metav1.Verbs
		Model        string
	}{k.manifest().Spec, subresources, k.def.ServedVerbs(), k.model()})
	return digest(append(data, k.sortKey...))
}

func (k *kind) makeV3() *spec3.OpenAPI {
	doc, err := builder.BuildOpenAPIV3(k.manifest(), k.version.Name, builder.Options{IncludeSelectableFields: true})
	if err != nil || doc == nil || doc.Paths == nil {
		return nil
	}
	if doc, err = renamed(k, doc); err != nil {
		return nil
	}
	k.fitV3(doc)
	if doc.Components != nil {
		sharedV3.apply(doc.Components.Schemas, k.own()...)
	}
	return doc
}

func (k *kind) makeV2() *spec.Swagger {
	doc, err := builder.BuildOpenAPIV2(k.manifest(), k.version.Name, builder.Options{
		V2: true, StripValueValidation: true, StripNullable: true, IncludeSelectableFields: true,
	})
	if err != nil || doc == nil || doc.Paths == nil {
		return nil
	}
	if doc, err = renamed(k, doc); err != nil {
		return nil
	}
	k.fitV2(doc)
	sharedV2.apply(doc.Definitions, k.own()...)
	sharedParameters.apply(doc.Parameters)
	return doc
}

// serves tells whether the whole resource has the verb.
func (k *kind) serves(verb string) bool { return slices.Contains(k.def.ServedVerbs(), verb) }
