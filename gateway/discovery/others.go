package discovery

import (
	"cmp"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/version"
	"github.com/wasmgate/wasmgate/gateway/discovery/openapi"
)

// Other is a version of a group that another server serves.
type Other struct {
	schema.GroupVersion
	Priority Priority
	// Discovery is what it says that it serves there, and how fresh that is.
	Discovery apidiscoveryv2.APIVersionDiscovery
	// OpenAPI describes it: a document of version 3 in JSON, of a hash; nil for none.
	OpenAPI     []byte
	OpenAPIHash string
	// V2 is what describes it in version 2; nil for nothing.
	V2 *openapi.Foreign
}

// Others are what other servers serve.
type Others []Other

// withOthers are groups with those that others serve, which come before what is served
// here at the same version. Groups that are served here alone stay as they are.
func withOthers(groups []*group, others []Other) []*group {
	if len(others) == 0 {
		return groups
	}
	byName := map[string]*group{}
	for i, g := range groups {
		g = &group{name: g.name, versions: slices.Clone(g.versions), first: g.priority()}
		groups[i], byName[g.name] = g, g
	}
	for i := range others {
		o := &others[i]
		if o.Group == "" {
			continue
		}
		g := byName[o.Group]
		if g == nil {
			g = &group{name: o.Group}
			byName[o.Group], groups = g, append(groups, g)
		}
		g.first = max(g.first, o.Priority.Group)
		g.versions = slices.DeleteFunc(g.versions, func(v *groupVersion) bool { return v.name == o.Version })
		g.versions = append(g.versions, &groupVersion{group: o.Group, name: o.Version, other: o})
		slices.SortStableFunc(g.versions, func(a, b *groupVersion) int {
			return cmp.Or(cmp.Compare(b.priority(), a.priority()), version.Compare(a.name, b.name))
		})
	}
	sortGroups(groups)
	return groups
}

func (v *groupVersion) priority() int32 {
	if v.other != nil {
		return v.other.Priority.Version
	}
	return PriorityOf(schema.GroupVersion{Group: v.group, Version: v.name}).Version
}
