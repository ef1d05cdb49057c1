package module

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/plugins"
)

// Lister finds the objects that refer to a module.
type Lister interface {
	client.Lister
	client.Freshener
}

// Reference is one place in an object that names a module.
type Reference struct {
	Module string
	// Hook is what the module is called for.
	Hook plugins.Hook
	Path *field.Path
	// Sends is what the module is sent, piece by piece, where the object says so.
	Sends []Sent
}

// References are the places in an object of a kind that name modules. Kinds
// that [Refers] does not know have none.
func References(gr schema.GroupResource, tree map[string]any) []Reference {
	find := referring[gr]
	if find == nil {
		return nil
	}
	return find(tree)
}

// Refers tells whether objects of a kind may name modules.
func Refers(gr schema.GroupResource) bool { return referring[gr] != nil }

// Referring are the kinds whose objects may name modules.
func Referring() iter.Seq[schema.GroupResource] { return maps.Keys(referring) }

// referring are the kinds that name modules, and how.
var referring = map[schema.GroupResource]func(tree map[string]any) []Reference{
	gvr.Definitions:        converterOf,
	gvr.ValidatingWebhooks: webhooksOf,
	gvr.MutatingWebhooks:   webhooksOf,
	gvr.Priorities:         orderOf,
}

func converterOf(tree map[string]any) []Reference {
	path := field.NewPath("spec", "conversion", "webhook", "clientConfig", "url")
	url, _, _ := unstructured.NestedString(tree, "spec", "conversion", "webhook", "clientConfig", "url")
	return byURL(nil, url, Reference{Hook: plugins.Convert, Path: path})
}

func webhooksOf(tree map[string]any) (refs []Reference) {
	hooks, _ := tree["webhooks"].([]any)
	for i, h := range hooks {
		hook, _ := h.(map[string]any)
		url, _, _ := unstructured.NestedString(hook, "clientConfig", "url")
		refs = byURL(refs, url, Reference{Hook: plugins.Admit, Path: field.NewPath("webhooks").Index(i).Child("clientConfig", "url"), Sends: sentTo(hook)})
	}
	return refs
}

func orderOf(tree map[string]any) []Reference {
	name, _, _ := unstructured.NestedString(tree, "spec", "module")
	if name == "" {
		return nil
	}
	groups, _, _ := unstructured.NestedStringSlice(tree, "spec", "groups")
	var sends []Sent
	for _, g := range groups {
		sends = append(sends, Sent{group: g})
	}
	return []Reference{{Module: name, Hook: plugins.Prioritize, Path: field.NewPath("spec", "module"), Sends: sends}}
}

// byURL adds a reference if a URL names a module.
func byURL(refs []Reference, url string, ref Reference) []Reference {
	if name, ok := crd.ModuleName(url); ok && name != "" {
		ref.Module = name
		refs = append(refs, ref)
	}
	return refs
}

// ReferredBy returns what refers to a module as of now, for one of hooks if any
// are given, sorted, each as resource and name.
func ReferredBy(ctx context.Context, objects Lister, name string, hooks ...plugins.Hook) ([]string, error) {
	if err := objects.Fresh(ctx); err != nil {
		return nil, err
	}
	var found []string
	for gr := range referring {
		list, err := objects.List(ctx, gr, "")
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", gr, err)
		}
		for _, obj := range list {
			if slices.ContainsFunc(References(gr, obj.Object), func(r Reference) bool {
				return r.Module == name && (len(hooks) == 0 || slices.Contains(hooks, r.Hook))
			}) {
				found = append(found, gr.Resource+"/"+obj.GetName())
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// InUse refuses, with a Conflict, to delete a module that something refers to.
// It is the hooks of the kind.
type InUse struct{}

// maxNamed is how many of the objects that refer to a module are named.
const maxNamed = 10

// BeforeDelete implements crd.Hooks.
func (InUse) BeforeDelete(ctx context.Context, there crd.Objects, obj map[string]any) error {
	name := (&unstructured.Unstructured{Object: obj}).GetName()
	found, err := ReferredBy(ctx, there, name)
	if err != nil || len(found) == 0 {
		return err
	}
	return apierrors.NewConflict(gvr.Modules, name, fmt.Errorf("the module is in use by %s; change or delete what refers to it first", FirstNames(found)))
}

// FirstNames names the first of many.
func FirstNames(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// StillFinalizing implements crd.Hooks.
func (InUse) StillFinalizing(map[string]any) bool { return false }
