package migration

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Creator is what [Auto] works with.
type Creator interface {
	client.MetadataGetter
	client.Getter
	client.Creator
}

// AutoAnnotation on a CustomResourceDefinition, when "true", starts a
// migration whenever objects may be stored at another than the storage
// version.
const AutoAnnotation = "migration.wasmgate.dev/auto"

// Auto creates StorageVersionMigrations for definitions that ask for
// it: one for each generation that leaves old versions stored, so that a
// migration that failed is not repeated until something changes.
type Auto struct {
	objects Creator
}

// NewAuto returns the controller.
func NewAuto(objects Creator) *Auto { return &Auto{objects: objects} }

// Name implements [controller.Controller].
func (c *Auto) Name() string { return "auto-migration" }

// Watches implements [controller.Controller].
func (c *Auto) Watches() []schema.GroupResource { return []schema.GroupResource{gvr.Definitions} }

// Reconcile implements [controller.Controller].
func (c *Auto) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	meta, err := c.objects.GetMetadata(ctx, gvr.Definitions, "", key.Name)
	if err != nil || meta.Annotations[AutoAnnotation] != "true" || meta.DeletionTimestamp != nil {
		return gvr.IgnoreNotFound(err)
	}
	obj, err := c.objects.Get(ctx, gvr.Definitions, "", key.Name)
	if err != nil {
		return gvr.IgnoreNotFound(err)
	}
	crd, err := gvr.Outline(obj)
	if err != nil {
		return err
	}
	target := targetOf(obj)
	if !gvr.IsTrue(crd, apiextensionsv1.Established) ||
		!slices.ContainsFunc(crd.Status.StoredVersions, func(v string) bool { return v != target.StorageVersion }) {
		return nil
	}
	_, err = c.objects.Create(ctx, gvr.Migrations, &unstructured.Unstructured{Object: map[string]any{
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
func autoName(t target) string {
	return fmt.Sprintf("auto-%s-g%d", t.UID, t.Generation)
}
