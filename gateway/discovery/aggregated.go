package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd"
)

// aggregate lists groups with everything in them. The versions of the list,
// v2 and v2beta1, differ in their name only.
func aggregate(groups []*group, version string) *apidiscoveryv2.APIGroupDiscoveryList {
	out := &apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: aggregatedKind, APIVersion: aggregatedGroup + "/" + version},
		Items:    []apidiscoveryv2.APIGroupDiscovery{},
	}
	for _, g := range groups {
		if g == nil {
			continue
		}
		item := apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
		for _, v := range g.versions {
			item.Versions = append(item.Versions, v.aggregated())
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func (v *groupVersion) aggregated() apidiscoveryv2.APIVersionDiscovery {
	if v.other != nil {
		return v.other.Discovery
	}
	out := apidiscoveryv2.APIVersionDiscovery{Version: v.name, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}
	for _, k := range v.kinds {
		out.Resources = append(out.Resources, k.aggregated())
	}
	return out
}

func (k served) aggregated() apidiscoveryv2.APIResourceDiscovery {
	out := apidiscoveryv2.APIResourceDiscovery{
		Resource:         k.def.Plural,
		ResponseKind:     k.responseKind(nil),
		Scope:            apidiscoveryv2.ScopeCluster,
		SingularResource: k.def.Singular,
		Verbs:            k.verbs(),
		ShortNames:       k.def.ShortNames,
		Categories:       k.def.Categories,
	}
	if k.def.Namespaced {
		out.Scope = apidiscoveryv2.ScopeNamespace
	}
	for _, s := range k.subresources() {
		out.Subresources = append(out.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource:  s.Name,
			ResponseKind: k.responseKind(s),
			Verbs:        s.Verbs,
		})
	}
	return out
}

// responseKind is the kind of the body. kube-apiserver leaves out group and
// version for its own kinds; clients take the list's then.
func (k served) responseKind(s *crd.Subresource) *metav1.GroupVersionKind {
	switch {
	case s != nil && s.Kind.Kind != "":
		kind := k.named(s.Kind)
		return &metav1.GroupVersionKind{Group: kind.Group, Version: kind.Version, Kind: kind.Kind}
	case k.custom():
		at := k.def.GVK(k.version.Name)
		return &metav1.GroupVersionKind{Group: at.Group, Version: at.Version, Kind: at.Kind}
	default:
		return &metav1.GroupVersionKind{Kind: k.def.Kind}
	}
}
