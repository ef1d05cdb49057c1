package garbage

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
)

// unserved finds an object that is, or may be, a dependent of owner and of a kind
// that is one of defined and not served, and tells why it is not for the collector to
// change; "" where there is none. Nobody follows such kinds, and once one is served
// its objects are looked at for owners that are gone.
func unserved(ctx context.Context, source Source, stored client.MetadataLister, defined []schema.GroupResource, owner node) (by controller.Key, why string, err error) {
	defs, err := source.Kinds(ctx)
	if err != nil {
		return by, "", err
	}
	served := map[schema.GroupResource]bool{}
	for _, d := range defs {
		served[d.GroupResource()] = true
	}
	for _, gr := range defined {
		if served[gr] {
			continue
		}
		items, err := stored.ListMetadata(ctx, gr, owner.Key.Namespace)
		if err != nil {
			return by, "", err
		}
		for i := range items {
			m := &items[i]
			by = controller.Key{GroupResource: gr, Namespace: m.Namespace, Name: m.Name}
			switch {
			case m.UID == "":
				return by, "cannot be read and may be one", nil
			case slices.ContainsFunc(m.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == owner.UID }):
				return by, "is of a kind that is defined and not served", nil
			}
		}
	}
	return controller.Key{}, "", nil
}

// noteDefinition notes that a custom resource is defined, by the name of its
// definition, or is no longer.
func (f *follower) noteDefinition(name string, gone bool) {
	gr := schema.ParseGroupResource(name)
	f.mu.Lock()
	defer f.mu.Unlock()
	if gone || gr.Group == "" {
		delete(f.defined, gr)
	} else {
		f.defined[gr] = struct{}{}
	}
}

// definedNames are the custom resources that are defined, in order.
func (f *follower) definedNames() (out []schema.GroupResource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for gr := range f.defined {
		out = append(out, gr)
	}
	slices.SortFunc(out, func(a, b schema.GroupResource) int { return strings.Compare(a.String(), b.String()) })
	return out
}
