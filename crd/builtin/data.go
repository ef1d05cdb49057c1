package builtin

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/yaml"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/declared"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/crd/custom"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/plan"
	crdschema "github.com/wasmgate/wasmgate/crd/schema"
)

// fromFile makes the definition of a kind that is a file; ttl is how long its
// objects are kept, if they expire.
func fromFile(f *file.File, ttl time.Duration) (*crd.Definition, error) {
	if f.Versions[0].Schema != nil {
		return fromSchema(f)
	}
	d := &crd.Definition{
		Group:            f.Group,
		Plural:           f.Names.Plural,
		Singular:         f.Names.Singular,
		Kind:             f.Names.Kind,
		ListKind:         f.Names.ListKind,
		ShortNames:       f.Names.ShortNames,
		Categories:       f.Names.Categories,
		Namespaced:       f.Scope == apiextensionsv1.NamespaceScoped,
		KeyPrefix:        f.Stored,
		Verbs:            f.Verbs,
		OrphansByDefault: f.OrphansByDefault, OrphanWarning: f.OrphanWarning,
		ReturnsDeleted: f.ReturnsDeleted, OwnsNothing: f.OwnsNothing,
		CreateOnUpdate: f.CreateOnUpdate, ConditionalUpdate: f.ConditionalUpdate,
	}
	also := extend.Of(d.GroupResource())
	d.Hooks, d.Grace = also.Hooks, also.Grace
	if f.Expires {
		d.TTL = func(map[string]any) time.Duration { return ttl }
	}
	alike := f.Alike
	for i := range f.Versions {
		v := &f.Versions[i]
		if v.Storage {
			d.StorageVersion = v.Name
		}
		if own := also.Layouts[d.APIVersion(v.Name)]; own != nil {
			home := d.Version(v.Like)
			if own.ValidateAll != nil {
				strict := also
				strict.ValidateAll = own.ValidateAll
				home = newVersion(f, f.Version(v.Like), d, strict)
			}
			d.Versions = append(d.Versions, laidOut(own, d, home, v))
			continue
		}
		alike = append(alike, v.Name)
		d.Versions = append(d.Versions, newVersion(f, v, d, also))
	}
	at := d.GVK(d.StorageVersion)
	fresh, err := freshOf(at)
	if err != nil {
		return nil, err
	}
	codec := newCodec(at, f.StoredAs, alike, fresh)
	codec.others, codec.older, d.Codec = also.Layouts, extend.OlderOf(d.GroupResource()), codec
	if len(also.Layouts) > 0 {
		d.Convert = also.Layouts.Convert
	}
	return d, nil
}

// fromSchema makes the definition of a kind that has no Go type.
func fromSchema(f *file.File) (*crd.Definition, error) {
	object := apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: f.Names.Plural + "." + f.Group}}
	if err := yaml.Unmarshal(f.Text, &object.Spec); err != nil {
		return nil, err
	}
	d, err := custom.Compile(&object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", object.Name, err)
	}
	d.KeyPrefix, d.Conversion, d.Verbs = f.Stored, nil, f.Verbs
	return d, nil
}

// goTypes are the Go types of kinds: client-go's, and those that it has no client for.
var goTypes = func() *runtime.Scheme {
	utilruntime.Must(apiregistrationv1.AddToScheme(scheme.Scheme))
	return scheme.Scheme
}()

// freshOf finds the Go type of a kind.
func freshOf(gvk schema.GroupVersionKind) (func() object.GoObject, error) {
	t := goTypes.AllKnownTypes()[gvk]
	if t == nil {
		return nil, fmt.Errorf("there is no Go type of %s", gvk)
	}
	if _, ok := reflect.New(t).Interface().(object.GoObject); !ok {
		return nil, fmt.Errorf("%s is no object", t)
	}
	return func() object.GoObject { o, _ := reflect.New(t).Interface().(object.GoObject); return o }, nil
}

// dataKind is one version of a kind that is a file, as the methods of its
// strategies, its shape and its table need it.
type dataKind struct {
	file    *file.File
	version *file.Version
	gvk     schema.GroupVersionKind
	fresh   func() object.GoObject
	also    extend.Functions
	// rules are nil of a kind for which none were generated.
	rules *declared.Rules
	modes declared.Modes
	// plan is made when the kind is first used.
	plan func() (*plan.Plan, error)
}

func newVersion(f *file.File, v *file.Version, d *crd.Definition, also extend.Functions) *crd.Version {
	k := &dataKind{file: f, version: v, gvk: d.GVK(v.Name), also: also}
	k.fresh = func() object.GoObject { return nil }
	if fresh, err := freshOf(k.gvk); err == nil {
		k.fresh = fresh
	}
	t := reflect.TypeOf(k.fresh())
	k.plan = sync.OnceValues(func() (*plan.Plan, error) {
		l, err := library()
		if err != nil {
			return nil, err
		}
		p, err := l.Plan(t, v.Fields)
		if err == nil {
			p.ChangesFirst = f.ChangesFirst
		}
		return p, err
	})
	out := &crd.Version{
		Name:         v.Name,
		Served:       v.Served,
		Shape:        &shape{fresh: k.fresh, of: goType(k.fresh), sent: also.FromClient, defaults: k.fill},
		Strategy:     &strategy{d.Namespaced, k, ""},
		Subresources: map[string]*crd.Subresource{},
		Table:        newColumns(v.AdditionalPrinterColumns, t),
		RowOrder:     also.RowOrder,
		Schema:       sync.OnceValue(func() *apiextensionsv1.JSONSchemaProps { return crdschema.For(t) }),
		Typed:        func() runtime.Object { return k.fresh() },
	}
	out.SelectableFields, out.Fields = selectors(v.SelectableFields)
	for name, s := range v.Subresources {
		out.Subresources[name] = k.subresource(name, s, d.Namespaced, out.Strategy)
	}
	return out
}

// fill sets defaults.
func (k *dataKind) fill(obj map[string]any) error {
	if k.also.Defaults != nil {
		k.also.Defaults(obj)
	}
	p, err := k.plan()
	if err != nil {
		return err
	}
	return p.Default(obj)
}

func (k *dataKind) subresource(name string, s *file.Subresource, namespaced bool, whole crd.Strategy) *crd.Subresource {
	out := &crd.Subresource{Name: name, Verbs: s.Verbs, Kind: s.Kind}
	if out.Verbs == nil {
		out.Verbs = []string{"get", "patch", "update"}
	}
	out.Body = bodyOf(s.Kind)
	if s.Scale == nil {
		out.Update = &strategy{namespaced, k, name}
		return out
	}
	out.Update = whole
	out.Kind = schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	out.Scale = &crd.Scale{SpecReplicasPath: s.Scale.SpecReplicasPath, StatusReplicasPath: s.Scale.StatusReplicasPath, ValidateMetadata: validateScaleMeta}
	if s.Scale.LabelSelectorPath != nil {
		out.Scale.LabelSelectorPath = *s.Scale.LabelSelectorPath
	}
	return out
}

// bodyOf is a kind that has metadata, nil of another.
func bodyOf(gvk schema.GroupVersionKind) *crd.Definition {
	fresh, err := freshOf(gvk)
	if err != nil {
		return nil
	}
	typed := reflect.TypeOf(fresh())
	return &crd.Definition{Group: gvk.Group, Kind: gvk.Kind, StorageVersion: gvk.Version, Versions: []*crd.Version{{
		Name: gvk.Version, Shape: &shape{fresh: fresh, of: goType(fresh)},
		Schema: sync.OnceValue(func() *apiextensionsv1.JSONSchemaProps { return crdschema.For(typed) }),
		Typed:  func() runtime.Object { return fresh() },
	}}}
}

// writes tells whether a write through a subresource, or of the whole for "",
// changes a field at the top.
func (k *dataKind) writes(subresource, name string) bool {
	if name == "metadata" || name == "apiVersion" || name == "kind" {
		return true
	}
	if s := k.version.Subresources[subresource]; s != nil {
		return slices.Contains(s.Writes, name) || s.Writes == nil && name == subresource
	}
	return !slices.Contains(k.version.Kept, name)
}

// validateScaleMeta checks the metadata of a Scale. All that have one are
// namespaced.
func validateScaleMeta(m *metav1.ObjectMeta) field.ErrorList {
	return extend.ValidateMeta(m, true, validation.NameIsDNSSubdomain)
}
