package merge

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	apiservices "k8s.io/kube-aggregator/pkg/client/applyconfiguration"
	apiservicescheme "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/wasmgate/wasmgate/crd/builtin"
)

// The types of built-in kinds, made of Go types, are those that Kubernetes
// itself merges them by.
func TestBuiltInKindsAreMergedByKubernetesOwnTypes_SSA20(t *testing.T) {
	ofGroup := map[string]managedfields.TypeConverter{"apiregistration.k8s.io": apiservices.NewTypeConverter(apiservicescheme.Scheme)}
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	kinds, err := builtin.All(builtin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, d := range kinds {
		for _, v := range d.Versions {
			if !v.Native() || !slices.Contains(d.ServedVerbs(), "patch") {
				continue
			}
			compared++
			obj := v.Typed()
			obj.GetObjectKind().SetGroupVersionKind(d.GVK(v.Name))
			theirs, err := cmp.Or(ofGroup[d.Group], converter).ObjectToTyped(obj, typed.AllowDuplicates)
			if err != nil {
				t.Fatal(d.Kind, err)
			}
			ours, err := Object(v.OpenAPISchema(), true, false)
			if err != nil {
				t.Fatal(d.Kind, err)
			}
			c := typeComparison{t: t, schema: theirs.Schema()}
			c.compare(d.Kind, ours, theirs.TypeRef())
		}
	}
	if compared < 50 {
		t.Errorf("only %d were compared", compared)
	}
}

type typeComparison struct {
	t      *testing.T
	schema *schema.Schema
}

var scalarNames = map[scalarType]schema.Scalar{
	numeric: schema.Numeric, text: schema.String, boolean: schema.Boolean, anyScalar: schema.Untyped,
}

func (c *typeComparison) compare(path string, ours *Type, ref schema.TypeRef) {
	atom, ok := c.schema.Resolve(ref)
	if !ok {
		c.t.Errorf("%s: unresolved", path)
		return
	}
	if ours == nil {
		if atom.Scalar != nil || atom.List != nil || atom.Map != nil {
			c.t.Errorf("%s: missing", path)
		}
		return
	}
	if ref.NamedType != nil && (*ref.NamedType == "__untyped_atomic_" || *ref.NamedType == "__untyped_deduced_") {
		want := atomicType
		if *ref.NamedType == "__untyped_deduced_" {
			want = deducedType
		}
		if ours != want && !(want == atomicType && freeForm(ours)) {
			c.t.Errorf("%s: not %s", path, *ref.NamedType)
		}
		return
	}
	if (ours.scalar == noScalar) != (atom.Scalar == nil) || atom.Scalar != nil && scalarNames[ours.scalar] != *atom.Scalar {
		c.t.Errorf("%s: another scalar", path)
	}
	if (ours.list == nil) != (atom.List == nil) || (ours.object == nil) != (atom.Map == nil) {
		c.t.Errorf("%s: another form", path)
		return
	}
	if l := atom.List; l != nil {
		var keys []string
		for _, k := range ours.list.keys {
			keys = append(keys, k.name)
		}
		if ours.list.atomic != (l.ElementRelationship == schema.Atomic) || !slices.Equal(keys, slices.Sorted(slices.Values(l.Keys))) {
			c.t.Errorf("%s: ours is atomic: %v with keys %v; theirs is %s with keys %v", path, ours.list.atomic, keys, l.ElementRelationship, l.Keys)
		}
		c.keys(path, ours.list, l)
		c.compare(path+"[]", ours.list.element, l.ElementType)
	}
	if atom.Map != nil {
		c.object(path, ours.object, atom.Map)
	}
}

// freeForm tells that a type is that of a RawExtension: an object of any kind that
// has one owner, as client-go's atomic type has.
func freeForm(t *Type) bool {
	return t != nil && t.scalar == noScalar && t.list == nil && t.object != nil && t.object.atomic && len(t.object.fields) == 0 && t.object.element == deducedType
}

// keys compares what missing keys of items are taken for; other defaults mean
// nothing here.
func (c *typeComparison) keys(path string, ours *listType, theirs *schema.List) {
	for _, k := range ours.keys {
		item, _ := c.schema.Resolve(theirs.ElementType)
		f, _ := item.Map.FindField(k.name)
		if fmt.Sprint(k.fallback) != fmt.Sprint(f.Default) { // numbers are of different types
			c.t.Errorf("%s: our default of the key %s is %v, theirs is %v", path, k.name, k.fallback, f.Default)
		}
	}
}

func (c *typeComparison) object(path string, ours *objectType, theirs *schema.Map) {
	if ours.atomic != (theirs.ElementRelationship == schema.Atomic) {
		c.t.Errorf("%s: ours is atomic: %v", path, ours.atomic)
	}
	for _, f := range theirs.Fields {
		o := ours.fields[f.Name]
		if o == nil {
			c.t.Errorf("%s: no field %s", path, f.Name)
			continue
		}
		if f.Name != "managedFields" {
			c.compare(path+"."+f.Name, o.Type, f.Type)
		}
	}
	if len(ours.fields) != len(theirs.Fields) {
		c.t.Errorf("%s: %d fields, theirs are %d", path, len(ours.fields), len(theirs.Fields))
	}
	c.compare(path+"{}", ours.element, theirs.ElementType)
}
