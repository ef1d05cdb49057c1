package builtin

import (
	"fmt"
	"maps"
	"reflect"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/crd/schema"
)

// layout is that of a version whose Go type has other fields than the type of
// the storage version, which is the home of what is said of the kind: objects of
// this version are defaulted, judged and printed as what they are there.
type layout struct {
	fresh func() goObject
	// home and away lead to the storage version and back. They leave their
	// argument as it is, and say nothing of apiVersion and kind.
	home, away func(obj map[string]any) (map[string]any, error)
	// validateAll is the extension's for objects that are written at this version;
	// nil for that of the others.
	validateAll func(subresource string, obj, old map[string]any) field.ErrorList
}

func newLayout[V, H any, PV goType[V], PH goType[H]](home func(*V) (*H, error), away func(*H) (*V, error)) *layout {
	return &layout{
		fresh: func() goObject { return PV(new(V)) },
		home:  func(obj map[string]any) (map[string]any, error) { return through[V, H, PV, PH](obj, home) },
		away:  func(obj map[string]any) (map[string]any, error) { return through[H, V, PH, PV](obj, away) },
	}
}

// through brings a tree from one Go type to another. Nobody looks at its
// managedFields on the way.
func through[F, T any, PF goType[F], PT goType[T]](obj map[string]any, convert func(*F) (*T, error)) (map[string]any, error) {
	managed := object.Detach(obj)
	if managed != nil {
		defer object.SetManaged(obj, managed)
	}
	from := PF(new(F))
	if err := toTyped(obj, from); err != nil {
		return nil, err
	}
	to, err := convert((*F)(from))
	if err != nil {
		return nil, err
	}
	out, err := toTree(PT(to))
	if err == nil && managed != nil {
		object.SetManaged(out, managed)
	}
	return out, err
}

// layouts are those of a kind's versions that have one of their own, by their
// apiVersion.
type layouts map[string]*layout

// of makes them those of a definition, which is stored by codec.
func (l layouts) of(d *crd.Definition, codec *codec) {
	codec.others, d.Codec = l, codec
	if len(l) > 0 {
		d.Convert = l.convert
	}
}

// convert is the converter of a kind.
func (l layouts) convert(obj map[string]any, apiVersion string) (err error) {
	from, _ := obj["apiVersion"].(string)
	if l[from] == l[apiVersion] { // also where neither has one
		obj["apiVersion"] = apiVersion
		return nil
	}
	kind, tree := obj["kind"], obj
	if own := l[from]; own != nil {
		if tree, err = own.home(tree); err != nil {
			return fmt.Errorf("from %s: %w", from, err)
		}
	}
	if own := l[apiVersion]; own != nil {
		if tree, err = own.away(tree); err != nil {
			return fmt.Errorf("to %s: %w", apiVersion, err)
		}
	}
	become(obj, tree, apiVersion, kind)
	return nil
}

// become makes obj what tree is, of an apiVersion and a kind.
func become(obj, tree map[string]any, apiVersion, kind any) {
	clear(obj)
	maps.Copy(obj, tree)
	obj["apiVersion"], obj["kind"] = apiVersion, kind
}

// judgedBy sets what checks objects that are written at this version.
func (l *layout) judgedBy(check func(subresource string, obj, old map[string]any) field.ErrorList) *layout {
	l.validateAll = check
	return l
}

// version makes a version with this layout, of a kind whose storage version is
// home.
func (l *layout) version(d *crd.Definition, home *crd.Version, v *file.Version) *crd.Version {
	s := seen{l, d.APIVersion(v.Name), d.APIVersion(home.Name), d.Kind}
	t := reflect.TypeOf(l.fresh())
	out := &crd.Version{
		Name: v.Name, Served: v.Served,
		Shape:        &shape{fresh: l.fresh, defaults: s.defaults(home.Shape)},
		Unchanged:    func([]byte) bool { return true }, // a converter made it of the Go type
		Strategy:     judged{home.Strategy, s},
		Subresources: map[string]*crd.Subresource{},
		Table:        printed{s, home.Table},
		Schema:       sync.OnceValue(func() *apiextensionsv1.JSONSchemaProps { return schema.For(t) }),
		Typed:        func() runtime.Object { return l.fresh() },
	}
	out.SelectableFields, out.Fields = selectors(v.SelectableFields)
	outdate(out, l.fresh(), d.GVK(v.Name))
	for subresource, of := range home.Subresources {
		own := *of
		own.Update = judged{of.Update, s}
		out.Subresources[subresource] = &own
	}
	return out
}

// seen says how objects of a version are seen at home.
type seen struct {
	*layout
	here, there, kind string
}

// atHome is obj at the storage version.
func (s seen) atHome(obj map[string]any) (map[string]any, error) {
	out, err := s.home(obj)
	if err == nil {
		out["apiVersion"], out["kind"] = s.there, s.kind
	}
	return out, err
}

// defaults are those of the storage version. What two versions say in different
// ways becomes what the API itself says of it.
func (s seen) defaults(home crd.Shape) func(obj map[string]any) error {
	return func(obj map[string]any) error {
		at, err := s.atHome(obj)
		if err != nil {
			return err
		}
		if err := home.FromStorage(at); err != nil {
			return err
		}
		back, err := s.away(at)
		if err == nil {
			become(obj, back, s.here, s.kind)
		}
		return err
	}
}
