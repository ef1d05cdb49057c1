package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ModuleScheme begins the url of a conversion webhook that is a module.
const ModuleScheme = "wasm://"

// ReferencedBy returns the names, sorted, of the definitions among crds whose
// conversion the module called name does.
func ReferencedBy(crds []*unstructured.Unstructured, name string) []string {
	var names []string
	for _, crd := range crds {
		url, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "url")
		module, ok := strings.CutPrefix(url, ModuleScheme)
		if ok && strings.TrimSuffix(module, "/") == name {
			names = append(names, crd.GetName())
		}
	}
	slices.Sort(names)
	return names
}

// ModuleReferences returns the names of the CustomResourceDefinitions that
// refer to a module, as of now.
func ModuleReferences(ctx context.Context, objects Objects, name string) ([]string, error) {
	if err := objects.Fresh(ctx); err != nil {
		return nil, err
	}
	crds, err := objects.List(ctx, CRDResource, "")
	if err != nil {
		return nil, fmt.Errorf("list definitions: %w", err)
	}
	return ReferencedBy(crds, name), nil
}

// CheckModuleDelete refuses, with a Conflict, to delete a module that
// something refers to. It is for the module's BeforeDelete hook.
func CheckModuleDelete(ctx context.Context, objects Objects, name string) error {
	names, err := ModuleReferences(ctx, objects, name)
	if err != nil || len(names) == 0 {
		return err
	}
	return apierrors.NewConflict(ModuleResource, name,
		fmt.Errorf("the module converts %s; change their spec.conversion first", strings.Join(names, ", ")))
}
