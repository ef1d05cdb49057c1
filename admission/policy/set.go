package policy

import (
	"cmp"
	"slices"
	"sync"

	"github.com/wasmgate/wasmgate/admission"
)

// Compiled is what a [Set] is made of: [*Validation] or [*Mutation].
type Compiled interface {
	// about is what both kinds have.
	about() *common
}

// about implements [Compiled].
func (c *common) about() *common { return c }

// InForce is a policy with its bindings, by name.
type InForce[P Compiled] struct {
	Policy   P
	Bindings []*Binding
	// Params finds its parameters; nil is the dispatcher's.
	Params Params
}

// Set is all policies of one kind that are in force, in the order in which they
// are asked. It is immutable, and safe for concurrent use.
type Set[P Compiled] struct {
	all []InForce[P]
	// byResource remembers what may match, by schema.GroupResource; it is asked
	// about what is served only.
	byResource sync.Map
}

// NewSet joins policies, which have different names, with their bindings, and
// orders them by name. A policy without a binding is not in force, nor is a
// binding without its policy. A binding that cannot be read is: refuse makes a
// policy of it that refuses everything. Parameters are found by params, nil for the
// dispatcher's.
func NewSet[P Compiled](all []P, bindings []*Binding, params Params, refuse func(name string, cause error) P) *Set[P] {
	s := &Set[P]{}
	byPolicy := map[string][]*Binding{}
	for _, b := range bindings {
		if b.unusable != nil {
			s.all = append(s.all, InForce[P]{refuse(b.Name, b.unusable), []*Binding{b}, params})
			continue
		}
		byPolicy[b.Policy] = append(byPolicy[b.Policy], b)
	}
	for _, p := range all {
		if of := byPolicy[p.about().name]; of != nil {
			slices.SortFunc(of, func(a, b *Binding) int { return cmp.Compare(a.Name, b.Name) })
			s.all = append(s.all, InForce[P]{p, of, params})
		}
	}
	slices.SortStableFunc(s.all, func(a, b InForce[P]) int { return cmp.Compare(a.Policy.about().name, b.Policy.about().name) })
	return s
}

// About are the policies whose rules may match requests for a resource, in order.
// The slice is shared.
func (s *Set[P]) About(r admission.Resource) []InForce[P] {
	if len(s.all) == 0 {
		return nil
	}
	gr := r.GetResource().GroupResource()
	if found, ok := s.byResource.Load(gr); ok {
		return found.([]InForce[P])
	}
	groups := r.GetGroups()
	var found []InForce[P]
	for _, p := range s.all {
		if scope := p.Policy.about().scope; scope == nil || scope.About(groups, gr.Resource) {
			found = append(found, p)
		}
	}
	s.byResource.Store(gr, found)
	return found
}
