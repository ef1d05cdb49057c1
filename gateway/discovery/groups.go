package discovery

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/version"
)

// group is an API group that serves something.
type group struct {
	name string
	// versions come in the order of priority.
	versions []*groupVersion
	// first is its priority where other servers serve some of it.
	first int32
}

// groupVersion is one version of a group, with what is served at it.
type groupVersion struct {
	group string
	name  string
	// kinds are sorted by plural.
	kinds []served
	// other is who serves it; nil for this server.
	other *Other
}

type served struct {
	def     *crd.Definition
	version *crd.Version
}

// groupsOf sorts definitions into groups, whose versions order puts into its
// order if it is not nil. core is the group without a name,
// nil when it serves nothing; it is not among the others.
func groupsOf(defs []*crd.Definition, order func(string, []string) []string) (core *group, others []*group) {
	byGroup := map[string][]*crd.Definition{}
	for _, d := range defs {
		for _, name := range d.Groups() {
			byGroup[name] = append(byGroup[name], d)
		}
	}
	for name, defs := range byGroup {
		g := newGroup(name, defs, order)
		switch {
		case len(g.versions) == 0:
		case name == "":
			core = g
		default:
			others = append(others, g)
		}
	}
	sortGroups(others)
	return core, others
}

func sortGroups(all []*group) {
	slices.SortFunc(all, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.priority(), a.priority()), cmp.Compare(a.name, b.name))
	})
}

// priority is kube-apiserver's for its own groups. Every other group comes after
// them, by name.
func (g *group) priority() int32 {
	if g.first != 0 {
		return g.first
	}
	return PriorityOf(schema.GroupVersion{Group: g.name}).Group
}

// Versions are the versions that a group serves, in the Kubernetes order.
func Versions(defs []*crd.Definition, group string) []string {
	var own []*crd.Definition
	for _, d := range defs {
		if slices.Contains(d.Groups(), group) {
			own = append(own, d)
		}
	}
	var names []string
	for _, v := range newGroup(group, own, nil).versions {
		names = append(names, v.name)
	}
	return names
}

func newGroup(name string, defs []*crd.Definition, order func(string, []string) []string) *group {
	slices.SortFunc(defs, func(a, b *crd.Definition) int { return cmp.Compare(a.Plural, b.Plural) })
	byVersion := map[string]*groupVersion{}
	var orders [][]string
	for _, d := range defs {
		var own []string
		for _, v := range d.Versions {
			at := d.GVK(v.Name)
			if !v.Served || at.Group != name {
				continue
			}
			gv := byVersion[at.Version]
			if gv == nil {
				gv = &groupVersion{group: name, name: at.Version}
				byVersion[at.Version] = gv
			}
			gv.kinds = append(gv.kinds, served{d, v})
			own = append(own, at.Version)
		}
		orders = append(orders, own)
	}
	g, versions := &group{name: name}, mergeOrders(orders)
	if order != nil {
		versions = order(name, versions)
	}
	for _, v := range versions {
		g.versions = append(g.versions, byVersion[v])
	}
	return g
}

// mergeOrders joins the version orders of a group's kinds into one that agrees
// with all of them where they agree with each other; what they leave open is
// decided by Kubernetes' order of version names.
func mergeOrders(orders [][]string) []string {
	before := map[string]sets.Set[string]{}
	for _, order := range orders {
		for i, v := range order {
			if before[v] == nil {
				before[v] = sets.New[string]()
			}
			before[v].Insert(order[:i]...)
		}
	}
	var out []string
	for len(before) > 0 {
		next, free := "", false
		for v, earlier := range before {
			vFree := len(earlier) == 0
			if next == "" || vFree && !free || vFree == free && version.Compare(v, next) < 0 {
				next, free = v, vFree
			}
		}
		out = append(out, next)
		delete(before, next)
		for _, earlier := range before {
			earlier.Delete(next)
		}
	}
	return out
}

func (v *groupVersion) groupVersion() string {
	return metav1.GroupVersion{Group: v.group, Version: v.name}.String()
}
