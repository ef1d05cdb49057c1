package builtin

import (
	"reflect"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/extend"
	"github.com/wasmgate/wasmgate/crd/builtin/file"
	"github.com/wasmgate/wasmgate/crd/schema"
)

// laidOut makes a version with a layout of its own, of a kind whose storage version is
// home.
func laidOut(l *extend.Layout, d *crd.Definition, home *crd.Version, v *file.Version) *crd.Version {
	s := seen{l, d.APIVersion(v.Name), d.APIVersion(home.Name), d.Kind}
	t := reflect.TypeOf(l.Fresh())
	out := &crd.Version{
		Name: v.Name, Served: v.Served,
		Shape:        &shape{fresh: l.Fresh, of: goType(l.Fresh), defaults: s.defaults(home.Shape)},
		Unchanged:    func([]byte) bool { return true }, // a converter made it of the Go type
		Strategy:     judged{home.Strategy, s},
		Subresources: map[string]*crd.Subresource{},
		Table:        printed{s, home.Table},
		Schema:       sync.OnceValue(func() *apiextensionsv1.JSONSchemaProps { return schema.For(t) }),
		Typed:        func() runtime.Object { return l.Fresh() },
	}
	out.SelectableFields, out.Fields = selectors(v.SelectableFields)
	for subresource, of := range home.Subresources {
		own := *of
		own.Update = judged{of.Update, s}
		out.Subresources[subresource] = &own
	}
	return out
}

// seen says how objects of a version are seen at home.
type seen struct {
	*extend.Layout
	here, there, kind string
}

// atHome is obj at the storage version.
func (s seen) atHome(obj map[string]any) (map[string]any, error) {
	out, err := s.Home(obj)
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
		back, err := s.Away(at)
		if err == nil {
			extend.Become(obj, back, s.here, s.kind)
		}
		return err
	}
}
