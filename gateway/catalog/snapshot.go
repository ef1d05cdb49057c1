package catalog

import (
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
)

// Snapshot is everything that is served at one moment. It is immutable.
type Snapshot struct {
	// Serial changes whenever a definition does.
	Serial uint64
	// Definitions are all definitions, built-in ones first, then custom ones
	// by group and name.
	Definitions []*crd.Definition

	resources map[schema.GroupResource]*Resource
}

// Resource returns the resource served under that group and plural, or nil.
func (s *Snapshot) Resource(gr schema.GroupResource) *Resource { return s.resources[gr] }

// Stored is what is kept of a resource.
type Stored struct {
	Objects int
	// Bytes is about what they take, and Events how many changes were heard of since the
	// process began.
	Bytes, Events int64
}

// Stored tells of each resource whose objects are stored.
func (s *Snapshot) Stored(visit func(gr schema.GroupResource, of Stored)) {
	for gr, r := range s.resources {
		if gr == r.GroupResource() && r.Def.KeyPrefix != "" {
			visit(gr, Stored{r.bucket.Snapshot().Len(), r.bucket.Bytes(), r.bucket.Received()})
		}
	}
}

// Find resolves the group, version and plural of a request.
func (s *Snapshot) Find(group, version, plural string) (*Resource, *crd.Version) {
	r := s.resources[schema.GroupResource{Group: group, Resource: plural}]
	if r == nil {
		return nil, nil
	}
	v := r.Def.In(group, version)
	if v == nil || !v.Served {
		return nil, nil
	}
	return r, v
}

var serials atomic.Uint64

// snapshot puts together what is served.
func (c *Catalog) snapshot() *Snapshot {
	s := &Snapshot{Serial: serials.Add(1), resources: map[schema.GroupResource]*Resource{}}
	all := slices.Clone(c.builtins)
	custom := make([]*Resource, 0, len(c.custom))
	for _, r := range c.custom {
		custom = append(custom, r.resource)
	}
	slices.SortFunc(custom, func(a, b *Resource) int {
		if n := strings.Compare(a.Def.Group, b.Def.Group); n != 0 {
			return n
		}
		return strings.Compare(a.Def.Plural, b.Def.Plural)
	})
	for _, r := range append(all, custom...) {
		if _, taken := s.resources[r.GroupResource()]; taken {
			continue // a built-in is never shadowed
		}
		for _, group := range r.Def.Groups() {
			s.resources[schema.GroupResource{Group: group, Resource: r.Def.Plural}] = r
		}
		s.Definitions = append(s.Definitions, r.Def)
	}
	return s
}
