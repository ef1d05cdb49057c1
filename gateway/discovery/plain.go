package discovery

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apidiscovery "k8s.io/apiserver/pkg/endpoints/discovery"

	"github.com/wasmgate/wasmgate/crd"
)

func apiVersions(core *group, opts Options) *metav1.APIVersions {
	out := &metav1.APIVersions{
		TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
		Versions:                   []string{},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{},
	}
	if core != nil {
		for _, v := range core.versions {
			out.Versions = append(out.Versions, v.name)
		}
	}
	if opts.ServerAddress != "" {
		out.ServerAddressByClientCIDRs = append(out.ServerAddressByClientCIDRs,
			metav1.ServerAddressByClientCIDR{ClientCIDR: "0.0.0.0/0", ServerAddress: opts.ServerAddress})
	}
	return out
}

func groupList(groups []*group) *metav1.APIGroupList {
	out := &metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"},
		Groups:   []metav1.APIGroup{},
	}
	for _, g := range groups {
		out.Groups = append(out.Groups, *g.apiGroup(false))
	}
	return out
}

// apiGroup describes a group; alone it carries its kind.
func (g *group) apiGroup(alone bool) *metav1.APIGroup {
	out := &metav1.APIGroup{Name: g.name}
	if alone {
		out.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	}
	for _, v := range g.versions {
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v.groupVersion(), Version: v.name})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

func (v *groupVersion) resourceList() *metav1.APIResourceList {
	out := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: v.groupVersion(),
		APIResources: []metav1.APIResource{},
	}
	if v.group == "" {
		out.APIVersion = "" // as it was before there were API groups
	}
	for _, k := range v.kinds {
		d := k.def
		whole := metav1.APIResource{
			Name:         d.Plural,
			SingularName: d.Singular,
			Namespaced:   d.Namespaced,
			Kind:         d.Kind,
			Verbs:        k.verbs(),
			ShortNames:   d.ShortNames,
			Categories:   d.Categories,
		}
		if d.Kept() {
			whole.StorageVersionHash = apidiscovery.StorageVersionHash(d.Group, d.StorageVersion, d.Kind)
		}
		out.APIResources = append(out.APIResources, whole)
		for _, s := range k.subresources() {
			r := metav1.APIResource{
				Name:       d.Plural + "/" + s.Name,
				Namespaced: d.Namespaced,
				Kind:       d.Kind,
				Verbs:      s.Verbs,
			}
			if s.Kind.Kind != "" {
				gvk := k.named(s.Kind)
				r.Group, r.Version, r.Kind = gvk.Group, gvk.Version, gvk.Kind
			}
			out.APIResources = append(out.APIResources, r)
		}
	}
	return out
}

// named is the kind of a subresource as documents name it, which leave out group
// and version where they are those of the kind.
func (k served) named(kind schema.GroupVersionKind) schema.GroupVersionKind {
	if kind.GroupVersion() == k.def.GVK(k.version.Name).GroupVersion() {
		return schema.GroupVersionKind{Kind: kind.Kind}
	}
	return kind
}

// The verbs of custom resources come in kube-apiserver's order, which is not
// sorted there. A resource that is going away takes no new content.
var (
	customVerbs      = metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	terminatingVerbs = metav1.Verbs{"delete", "deletecollection", "get", "list", "watch"}
)

// custom tells custom resources from kinds with a Go type.
func (k served) custom() bool { return !k.version.Native() }

func (k served) verbs() metav1.Verbs {
	switch {
	case k.def.Verbs != nil || !k.custom():
		return k.def.ServedVerbs()
	case k.def.Terminating:
		return terminatingVerbs
	default:
		return customVerbs
	}
}

// subresources are sorted by name, but a custom resource's status comes first.
func (k served) subresources() []*crd.Subresource {
	var out []*crd.Subresource
	for _, s := range k.version.Subresources {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *crd.Subresource) int {
		switch {
		case k.custom() && a.Name == "status":
			return -1
		case k.custom() && b.Name == "status":
			return 1
		case a.Name < b.Name:
			return -1
		default:
			return 1
		}
	})
	return out
}
