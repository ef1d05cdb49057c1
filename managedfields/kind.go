package managedfields

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/managedfields/merge"
)

// Kind is the field management of one kind. It is safe for concurrent use.
type Kind struct {
	def *crd.Definition
	// versions are by apiVersion, as entries name them.
	versions map[string]*version
}

// version is what is known of one version of a kind; all but the names is made
// when it is first needed.
type version struct {
	*crd.Version
	api  string // the apiVersion of objects
	kind string

	types func() *merge.Type
	// empty is an object that nothing was set in.
	empty func() map[string]any
	// resets are the fields that a write through a subresource, or of the whole
	// object for "", cannot change, by apiVersion.
	resets func() map[string]map[string]*fieldpath.Set
}

// NewKind makes the field management of a definition. It costs nothing:
// schemas are built when they are first needed, once for each version.
func NewKind(def *crd.Definition) *Kind {
	k := &Kind{def: def, versions: make(map[string]*version, len(def.Versions))}
	for _, v := range def.Versions {
		w := &version{Version: v, api: def.APIVersion(v.Name), kind: def.Kind}
		w.types = sync.OnceValue(func() *merge.Type { return typesOf(v, def.PreserveUnknownFields) })
		w.empty = sync.OnceValue(w.makeEmpty)
		w.resets = sync.OnceValue(func() map[string]map[string]*fieldpath.Set { return k.resetsOf(v) })
		k.versions[w.api] = w
	}
	return k
}

// typesOf is the type of whole objects. A schema that is not structural, as
// there are from before structural schemas, says as little as none.
func typesOf(v *crd.Version, preserve bool) *merge.Type {
	s := v.OpenAPISchema()
	if v.Recursive != nil {
		s = v.Recursive()
	}
	t, err := merge.Object(s, v.Native(), preserve)
	if err != nil {
		t, _ = merge.Object(nil, false, preserve)
	}
	return t
}

func (v *version) makeEmpty() map[string]any {
	out := map[string]any{}
	if v.Native() {
		if t, err := runtime.DefaultUnstructuredConverter.ToUnstructured(v.Typed()); err == nil {
			out = t
		}
	}
	out["apiVersion"], out["kind"] = v.api, v.kind
	return out
}

// resetsOf gathers what the strategies of a version say. The status of a custom
// resource is reset at all versions of its managers; the rest at its own only.
func (k *Kind) resetsOf(v *crd.Version) map[string]map[string]*fieldpath.Set {
	out := map[string]map[string]*fieldpath.Set{"": {}}
	addResets(out[""], v.Strategy)
	for name, sub := range v.Subresources {
		if sub.Scale != nil {
			continue
		}
		out[name] = map[string]*fieldpath.Set{}
		for _, other := range k.def.Versions {
			if o := other.Subresources[name]; o != nil && o.Scale == nil {
				addResets(out[name], o.Update)
			}
		}
	}
	return out
}

// addResets adds what a strategy resets; what is sent to have something done, and
// kept nowhere, has none.
func addResets(into map[string]*fieldpath.Set, strategy crd.Strategy) {
	if strategy == nil {
		return
	}
	for api, set := range strategy.Resets() {
		into[string(api)] = set
	}
}
