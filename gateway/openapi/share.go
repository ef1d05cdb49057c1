package openapi

import (
	"slices"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// The builder gives every kind its own copy of the schemas that all kinds
// have, such as metadata. They depend on nothing but the library, so one copy
// is kept for the life of the process.
var (
	sharedV2         shared[spec.Schema]
	sharedV3         shared[*spec.Schema]
	sharedParameters shared[spec.Parameter]
)

type shared[V any] struct{ byName sync.Map }

// apply replaces what is in m, except the kind's own entries, by the copies
// that are kept.
func (s *shared[V]) apply(m map[string]V, own ...string) {
	for name, v := range m {
		if slices.Contains(own, name) {
			continue
		}
		first, _ := s.byName.LoadOrStore(name, v)
		if kept, ok := first.(V); ok {
			m[name] = kept
		}
	}
}

// own are the names of the kind's own schemas.
func (k *kind) own() []string {
	name := k.model()
	if name == "" {
		name = reversed(k.def.Group) + "." + k.version.Name + "." + k.def.Kind
		return []string{name, reversed(k.def.Group) + "." + k.version.Name + "." + k.def.ListKind}
	}
	return []string{name, name + "List"}
}
