package managedfields_test

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	prune "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/managedfields"
)

// world is one definition, compiled for both sides.
type world struct {
	from     *oracleDefinition
	def      *crd.Definition
	kind     *managedfields.Kind
	types    library.TypeConverter
	managers map[oracleKey]*library.FieldManager
	// validators and structures are by version; none for a version without a
	// schema.
	validators map[string]validation.SchemaValidator
	structures map[string]*structural.Structural
}

func newWorlds(definitions []oracleDefinition) ([]*world, error) {
	var out []*world
	for i := range definitions {
		w, err := newWorld(&definitions[i])
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no definition")
	}
	return out, nil
}

func newWorld(d *oracleDefinition) (*world, error) {
	if d.Builtin != "" {
		return builtinWorld(d)
	}
	if d.version(oracleStorage) == nil {
		return nil, fmt.Errorf("no version %s", oracleStorage)
	}
	c := d.crd()
	if err := validDefinition(c); err != nil {
		return nil, err
	}
	def, err := custom.Compile(c)
	if err != nil {
		return nil, err
	}
	types, err := oracleTypes(c)
	if err != nil {
		return nil, err
	}
	w := &world{from: d, def: def, types: types}
	w.start()
	for _, v := range d.Versions {
		if v.Schema == nil {
			continue
		}
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.DeepCopy(), internal, nil); err != nil {
			return nil, err
		}
		if w.validators[v.Name], _, err = validation.NewSchemaValidator(internal); err != nil {
			return nil, err
		}
		if w.structures[v.Name], err = structural.NewStructural(internal); err != nil && !d.Preserve {
			return nil, err
		}
	}
	return w, nil
}

func (w *world) start() {
	w.kind = managedfields.NewKind(w.def)
	w.managers = map[oracleKey]*library.FieldManager{}
	w.validators = map[string]validation.SchemaValidator{}
	w.structures = map[string]*structural.Structural{}
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

// validDefinition tells why a definition could not be created; the oracle
// would silently know nothing of its fields. Only definitions that preserve
// unknown fields may come from times when a schema was not required.
func validDefinition(c *apiextensionsv1.CustomResourceDefinition) error {
	c = c.DeepCopy()
	if c.Spec.PreserveUnknownFields {
		known := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Schema != nil }
		if !slices.ContainsFunc(c.Spec.Versions, known) {
			return nil
		}
		c.Spec.PreserveUnknownFields = false
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(c)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&c.Spec)
	c.Status.StoredVersions = []string{oracleStorage}
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(c, internal, nil); err != nil {
		return err
	}
	return crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal).ToAggregate()
}

// oracleTypes are the types that kube-apiserver makes of a definition.
func oracleTypes(c *apiextensionsv1.CustomResourceDefinition) (library.TypeConverter, error) {
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
	return library.NewTypeConverter(merged.Components.Schemas, c.Spec.PreserveUnknownFields)
}

// mood is how much the oracle takes.
type mood int

const (
	strict mood = iota
	// lenient takes whatever a conversion gives and knows of no conversion that
	// fails.
	lenient
	// pruning also leaves out what a conversion gives and the schema does not
	// know, as of an object that the oracle has taken half of away.
	pruning
)

type oracleKey struct {
	version, subresource string
	mood                 mood
}

// oracle is the field manager of a version and a subresource, wired as
// kube-apiserver wires it for custom resources.
func (w *world) oracle(version, subresource string, m mood) (*library.FieldManager, error) {
	key := oracleKey{version, subresource, m}
	if known := w.managers[key]; known != nil {
		return known, nil
	}
	gvk := w.def.GVK(version)
	newManager := library.NewDefaultCRDFieldManager
	reset := w.resets(version, subresource)
	if w.from.builtin != nil {
		newManager, reset = library.NewDefaultFieldManager, builtinResets(w.def, subresource)
	}
	types, converter := w.types, oracleConverter{w, w.from, m}
	if m != strict {
		types = tolerant{w.types}
	}
	made, err := newManager(types, converter, noDefaults{}, emptyObjects{w.def},
		gvk, gvk.GroupVersion(), subresource, fieldpath.NewExcludeFilterSetMap(reset))
	w.managers[key] = made
	return made, err
}

// resets are the fields that a write of a custom resource does not change.
func (w *world) resets(version, subresource string) map[fieldpath.APIVersion]*fieldpath.Set {
	reset := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, v := range w.from.Versions {
		if !v.Status || subresource == "" && v.Name != version {
			continue
		}
		set := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
		if subresource == "status" {
			set = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
		}
		reset[fieldpath.APIVersion(w.from.api(v.Name))] = set
	}
	return reset
}

// oracleConverter gives a definition's conversion to the oracle. A version
// that is gone is none that it knows.
type oracleConverter struct {
	world *world
	*oracleDefinition
	mood mood
}

func (c oracleConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	from := in.GetObjectKind().GroupVersionKind()
	to, ok := target.(schema.GroupVersion)
	if !ok || to.Group != c.group() || c.version(to.Version) == nil {
		return nil, runtime.NewNotRegisteredErrForTarget(c.group(), nil, target)
	}
	if from.Version == to.Version {
		return in, nil
	}
	u, ok := in.(*unstructured.Unstructured)
	if c, is := in.(converted); is {
		u, ok = c.Unstructured, true
	}
	if !ok {
		return nil, fmt.Errorf("a %T cannot be converted", in)
	}
	convert := c.convert
	if c.mood != strict {
		convert = c.moved
	}
	out, err := convert(u.Object, from.Version, to.Version)
	if err != nil {
		return nil, err
	}
	u = &unstructured.Unstructured{Object: cloneTree(out)}
	if structure := c.world.structures[to.Version]; c.mood == pruning && structure != nil {
		prune.Prune(u.Object, structure, true)
	}
	if c.mood != strict {
		return converted{u}, nil
	}
	return u, nil
}

// converted is what came from a conversion.
type converted struct{ *unstructured.Unstructured }

// tolerant takes what was converted as it is, with duplicates, as the oracle
// itself takes the objects of a request.
type tolerant struct{ library.TypeConverter }

func (t tolerant) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if c, ok := obj.(converted); ok {
		return t.TypeConverter.ObjectToTyped(c.Unstructured, typed.AllowDuplicates)
	}
	return t.TypeConverter.ObjectToTyped(obj, opts...)
}

func (oracleConverter) Convert(in, out, context any) error {
	return fmt.Errorf("nobody converts into an object")
}

func (oracleConverter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}
