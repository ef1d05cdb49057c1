package controller

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AutoAnnotation on a CustomResourceDefinition, when "true", starts a
// migration whenever objects may be stored at another than the storage
// version.
const AutoAnnotation = "migration.wasmgate.dev/auto"

// AutoMigration creates StorageVersionMigrations for definitions that ask for
// it: one for each generation that leaves old versions stored, so that a
// migration that failed is not repeated until something changes.
type AutoMigration struct {
	objects Objects
}

// NewAutoMigration returns the controller.
func NewAutoMigration(objects Objects) *AutoMigration { return &AutoMigration{objects: objects} }

// Name implements [Controller].
func (c *AutoMigration) Name() string { return "auto-migration" }

// Watches implements [Controller].
func (c *AutoMigration) Watches() []schema.GroupResource { return []schema.GroupResource{CRDResource} }

// Reconcile implements [Controller].
func (c *AutoMigration) Reconcile(ctx context.Context, _ Queue, key Key) error {
	obj, err := c.objects.Get(ctx, CRDResource, "", key.Name)
	if err != nil {
		return ignoreNotFound(err)
	}
	if obj.GetAnnotations()[AutoAnnotation] != "true" || obj.GetDeletionTimestamp() != nil {
		return nil
	}
	crd, err := outline(obj)
	if err != nil {
		return err
	}
	target := targetOf(obj)
	if !conditionTrue(crd, apiextensionsv1.Established) ||
		!slices.ContainsFunc(crd.Status.StoredVersions, func(v string) bool { return v != target.StorageVersion }) {
		return nil
	}
	_, err = c.objects.Create(ctx, MigrationResource, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "storagemigration.k8s.io/v1",
		"kind":       "StorageVersionMigration",
		"metadata":   map[string]any{"name": autoName(target)},
		"spec": map[string]any{"resource": map[string]any{
			"group": crd.Spec.Group, "resource": crd.Spec.Names.Plural,
		}},
	}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// autoName is the same for the same definition and generation. The uid is in
// it because a definition that is created again counts from 1 again.
func autoName(t migrationTarget) string {
	return fmt.Sprintf("auto-%s-g%d", t.UID, t.Generation)
}
