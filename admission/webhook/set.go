package webhook

import (
	"cmp"
	"slices"
	"sync"

	"github.com/wasmgate/wasmgate/admission"
)

// Set is all webhooks of one kind of configuration, in the order in which they
// are asked. It is immutable, and safe for concurrent use.
type Set struct {
	hooks []*Hook
	// byResource remembers which hooks may match, by schema.GroupResource; it
	// is asked about what is served only.
	byResource sync.Map
}

// NewSet orders webhooks by their configurations' names; those of one
// configuration stay in its order.
func NewSet(hooks []*Hook) *Set {
	hooks = slices.Clone(hooks)
	slices.SortStableFunc(hooks, func(a, b *Hook) int { return cmp.Compare(a.Configuration, b.Configuration) })
	for i, h := range hooks {
		placed := *h
		placed.index, hooks[i] = i, &placed
	}
	return &Set{hooks: hooks}
}

// About are the webhooks whose rules may match requests for a resource, in order.
// The slice is shared.
func (s *Set) About(r admission.Resource) []*Hook {
	if len(s.hooks) == 0 {
		return nil
	}
	gr := r.GetResource().GroupResource()
	if found, ok := s.byResource.Load(gr); ok {
		return found.([]*Hook)
	}
	groups := r.GetGroups()
	var found []*Hook
	for _, h := range s.hooks {
		if h.scope.About(groups, gr.Resource) {
			found = append(found, h)
		}
	}
	s.byResource.Store(gr, found)
	return found
}
