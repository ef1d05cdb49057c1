package definition

import (
	"context"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd"
)

// CleanupFinalizer keeps a definition until its objects are gone.
const CleanupFinalizer = apiextensionsv1.CustomResourceCleanupFinalizer

// hooks make the first deletion of a definition wait for its objects.
type hooks struct{}

// BeforeDelete implements [crd.Hooks].
func (hooks) BeforeDelete(_ context.Context, _ crd.Objects, obj map[string]any) error {
	c, err := FromTree(obj)
	if err != nil {
		return err
	}
	if !MarkTerminating(c, metav1.NewTime(time.Now())) {
		return nil
	}
	tree, err := toTree(c)
	if err != nil {
		return err
	}
	replace(obj, tree)
	return nil
}

// StillFinalizing implements [crd.Hooks]: the finalizer is an ordinary one.
func (hooks) StillFinalizing(map[string]any) bool { return false }

// MarkTerminating gives c what a definition gets when it is deleted: a deletion
// time, the finalizer and the Terminating condition; it reports whether it did.
// A definition that is being deleted already is left alone.
func MarkTerminating(c *apiextensionsv1.CustomResourceDefinition, now metav1.Time) bool {
	if !c.DeletionTimestamp.IsZero() {
		return false
	}
	c.DeletionTimestamp = &now
	if !slices.Contains(c.Finalizers, CleanupFinalizer) {
		c.Finalizers = append(c.Finalizers, CleanupFinalizer)
	}
	SetCondition(&c.Status, condition{
		Type:    apiextensionsv1.Terminating,
		Status:  apiextensionsv1.ConditionTrue,
		Reason:  "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	}, now)
	return true
}
