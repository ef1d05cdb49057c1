package module

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
)

// Lister finds the definitions that refer to a module. Errors are the API's status
// errors (k8s.io/apimachinery/pkg/api/errors); objects that are returned belong
// to the caller.
type Lister interface {
	// List reads all objects of a kind ("" = in all namespaces) at their
	// storage version, from the cache.
	List(ctx context.Context, gr schema.GroupResource, namespace string) ([]*unstructured.Unstructured, error)
	// Fresh waits until the cache holds everything that was committed before
	// the call.
	Fresh(ctx context.Context) error
}

// ReferencedBy returns the names, sorted, of the definitions among crds whose
// conversion the module called name does.
func ReferencedBy(crds []*unstructured.Unstructured, name string) []string {
	var names []string
	for _, obj := range crds {
		url, _, _ := unstructured.NestedString(obj.Object, "spec", "conversion", "webhook", "clientConfig", "url")
		if module, ok := crd.ModuleName(url); ok && module == name {
			names = append(names, obj.GetName())
		}
	}
	slices.Sort(names)
	return names
}

// References returns the names of the CustomResourceDefinitions that
// refer to a module, as of now.
func References(ctx context.Context, objects Lister, name string) ([]string, error) {
	if err := objects.Fresh(ctx); err != nil {
		return nil, err
	}
	crds, err := objects.List(ctx, kinds.Definitions, "")
	if err != nil {
		return nil, fmt.Errorf("list definitions: %w", err)
	}
	return ReferencedBy(crds, name), nil
}

// InUse refuses, with a Conflict, to delete a module that something refers to.
// It is the hooks of the kind.
type InUse struct {
	// Definitions is set before the first deletion.
	Definitions Lister
}

// BeforeDelete implements crd.Hooks.
func (h *InUse) BeforeDelete(ctx context.Context, obj map[string]any) error {
	name := (&unstructured.Unstructured{Object: obj}).GetName()
	names, err := References(ctx, h.Definitions, name)
	if err != nil || len(names) == 0 {
		return err
	}
	return apierrors.NewConflict(kinds.Modules, name,
		fmt.Errorf("the module converts %s; change their spec.conversion first", strings.Join(names, ", ")))
}

// StillFinalizing implements crd.Hooks.
func (*InUse) StillFinalizing(map[string]any) bool { return false }
