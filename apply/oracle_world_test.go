package apply_test

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/apply"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
)

// world is one definition, compiled for both sides.
type world struct {
	from     *oracleDefinition
	def      *crd.Definition
	kind     *apply.Kind
	types    managedfields.TypeConverter
	managers map[[2]string]*managedfields.FieldManager
}

func newWorld(d *oracleDefinition) (*world, error) {
	if d.version(oracleStorage) == nil {
		return nil, fmt.Errorf("no version %s", oracleStorage)
	}
	c := d.crd()
	def, err := custom.Compile(c)
	if err != nil {
		return nil, err
	}
	types, err := oracleTypes(c)
	if err != nil {
		return nil, err
	}
	return &world{d, def, apply.NewKind(def), types, map[[2]string]*managedfields.FieldManager{}}, nil
}

func (d *oracleDefinition) crd() *apiextensionsv1.CustomResourceDefinition {
	c := &apiextensionsv1.CustomResourceDefinition{}
	c.Name, c.UID = "foos."+oracleGroup, "u"
	c.Spec.Group, c.Spec.Scope = oracleGroup, apiextensionsv1.NamespaceScoped
	c.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "foos", Singular: "foo", Kind: oracleKind, ListKind: oracleKind + "List"}
	c.Spec.PreserveUnknownFields = d.Preserve
	c.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	for _, v := range d.Versions {
		out := apiextensionsv1.CustomResourceDefinitionVersion{Name: v.Name, Served: true, Storage: v.Name == oracleStorage}
		if v.Schema != nil {
			out.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: v.Schema.DeepCopy()}
		}
		if v.Status {
			out.Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
		}
		c.Spec.Versions = append(c.Spec.Versions, out)
	}
	return c
}

// oracleTypes are the types that kube-apiserver makes of a definition.
func oracleTypes(c *apiextensionsv1.CustomResourceDefinition) (managedfields.TypeConverter, error) {
	var specs []*spec3.OpenAPI
	for _, v := range c.Spec.Versions {
		s, err := builder.BuildOpenAPIV3(c, v.Name, builder.Options{})
		if err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	merged, err := builder.MergeSpecsV3(specs...)
	if err != nil {
		return nil, err
	}
	return managedfields.NewTypeConverter(merged.Components.Schemas, c.Spec.PreserveUnknownFields)
}

// oracle is the field manager of a version and a subresource, wired as
// kube-apiserver wires it for custom resources.
func (w *world) oracle(version, subresource string) (*managedfields.FieldManager, error) {
	key := [2]string{version, subresource}
	if m := w.managers[key]; m != nil {
		return m, nil
	}
	reset := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, v := range w.from.Versions {
		if !v.Status || subresource == "" && v.Name != version {
			continue
		}
		set := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
		if subresource == "status" {
			set = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
		}
		reset[fieldpath.APIVersion(oracleGroup+"/"+v.Name)] = set
	}
	gvk := schema.GroupVersionKind{Group: oracleGroup, Version: version, Kind: oracleKind}
	m, err := managedfields.NewDefaultCRDFieldManager(w.types, oracleConverter{w.from}, noDefaults{}, emptyObjects{},
		gvk, gvk.GroupVersion(), subresource, fieldpath.NewExcludeFilterSetMap(reset))
	w.managers[key] = m
	return m, err
}

// oracleConverter gives a definition's conversion to the oracle. A version
// that is gone is none that it knows.
type oracleConverter struct{ *oracleDefinition }

func (c oracleConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	to, ok := target.(schema.GroupVersion)
	if !ok || to.Group != oracleGroup || c.version(to.Version) == nil {
		return nil, runtime.NewNotRegisteredErrForTarget(oracleGroup, nil, target)
	}
	out, err := c.convert(in.(*unstructured.Unstructured).Object, from.Version, to.Version)
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: cloneTree(out)}, nil
}

func (oracleConverter) Convert(in, out, context any) error {
	return fmt.Errorf("nobody converts into an object")
}

func (oracleConverter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

type emptyObjects struct{}

func (emptyObjects) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(kind)
	return out, nil
}
