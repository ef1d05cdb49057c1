package apply

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
	"sigs.k8s.io/structured-merge-diff/v4/value"
	strategypath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
)

// Kind is the field management of one kind. It is safe for concurrent use.
type Kind struct {
	def      *crd.Definition
	versions map[string]*version
}

// version is what is known of one version of a kind; all but the names is made
// when it is first needed.
type version struct {
	crd *crd.Version
	// api is the version as objects and entries name it.
	api  string
	kind string

	types func() *schema.Schema
	// empty is an object that nothing was set in.
	empty func() map[string]any
	// resets are the fields that a write through a subresource, or the whole
	// object for "", cannot change, by apiVersion.
	resets func() map[string]map[string]*fieldpath.Set
}

// NewKind makes the field management of a definition. It costs nothing:
// schemas are built when they are first needed, once for each version.
func NewKind(def *crd.Definition) *Kind {
	k := &Kind{def: def, versions: make(map[string]*version, len(def.Versions))}
	for _, v := range def.Versions {
		w := &version{crd: v, api: def.APIVersion(v.Name), kind: def.Kind}
		w.types = sync.OnceValue(func() *schema.Schema { return schemaOrDeduced(v) })
		w.empty = sync.OnceValue(w.makeEmpty)
		w.resets = sync.OnceValue(func() map[string]map[string]*fieldpath.Set { return k.resetsOf(v) })
		k.versions[w.api] = w
	}
	return k
}

// schemaOrDeduced is the schema of a version. One that cannot be understood
// (which is not structural, as those from before structural schemas) says as
// little as none.
func schemaOrDeduced(v *crd.Version) *schema.Schema {
	s, err := schemaOf(v)
	if err != nil {
		s = schemaWith(deducedRoot())
	}
	return s
}

// typed checks that a tree is of the version's type.
func (v *version) typed(tree map[string]any, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return typed.AsTyped(value.NewValueInterface(tree), v.types(), named(rootType), opts...)
}

func (v *version) makeEmpty() map[string]any {
	tree := map[string]any{}
	if v.crd.Native() {
		if t, err := runtime.DefaultUnstructuredConverter.ToUnstructured(v.crd.Typed()); err == nil {
			tree = t
		}
	}
	tree["apiVersion"], tree["kind"] = v.api, v.kind
	return tree
}

// resetsOf gathers what the strategies of a version say. The status of a custom
// resource is reset at all versions of its managers; the rest at its own only.
func (k *Kind) resetsOf(v *crd.Version) map[string]map[string]*fieldpath.Set {
	out := map[string]map[string]*fieldpath.Set{"": {}}
	addResets(out[""], v.Strategy)
	for name, sub := range v.Subresources {
		out[name] = map[string]*fieldpath.Set{}
		if sub.Scale != nil {
			continue
		}
		addResets(out[name], sub.Update)
		for _, other := range k.def.Versions {
			if o := other.Subresources[name]; o != nil && o.Scale == nil {
				addResets(out[name], o.Update)
			}
		}
	}
	return out
}

// resetter is a strategy that says which fields a write cannot change, by
// apiVersion. The library's strategies speak of sets of another major version.
type resetter interface {
	GetResetFields() map[strategypath.APIVersion]*strategypath.Set
}

// addResets adds what a strategy resets. Sets of different
// major versions change hands as JSON.
func addResets(into map[string]*fieldpath.Set, strategy any) {
	r, ok := strategy.(resetter)
	if !ok {
		return
	}
	for api, other := range r.GetResetFields() {
		raw, err := other.ToJSON()
		if err != nil {
			continue
		}
		if set, err := readSet(raw); err == nil {
			into[string(api)] = set
		}
	}
}

// gvk is the kind as errors name it.
func (k *Kind) gvk(version string) string { return k.def.GVK(version).String() }

// describe names an object in errors.
func describe(tree map[string]any, gvk string) string {
	meta, _ := tree["metadata"].(map[string]any)
	namespace, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	return fmt.Sprintf("%s/%s; %s", namespace, name, gvk)
}
