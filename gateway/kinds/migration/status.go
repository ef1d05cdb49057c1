package migration

import (
	"context"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// phase is what the conditions of a migration say together. The
// reasons are kube-controller-manager's, but for Paused, which it lacks.
type phase struct {
	running, succeeded, failed bool
	reason                     string
}

var (
	running   = phase{running: true, reason: "StorageVersionMigrationInProgress"}
	paused    = phase{reason: "StorageVersionMigrationPaused"}
	succeeded = phase{succeeded: true, reason: "StorageVersionMigrationSucceeded"}
	failed    = phase{failed: true, reason: "StorageVersionMigrationFailed"}
)

// report sets the conditions. Running is always there; the other two appear
// when they become true.
func (j *job) report(ctx context.Context, p phase, message string) error {
	return j.update(ctx, "status", func(obj *unstructured.Unstructured) (bool, error) {
		conditions, err := gvr.Conditions(obj)
		if err != nil {
			return false, err
		}
		set := func(t storagemigrationv1.MigrationConditionType, status bool) bool {
			c := metav1.Condition{Type: string(t), Status: metav1.ConditionFalse, Reason: p.reason,
				Message: gvr.Shorten(message), ObservedGeneration: obj.GetGeneration()}
			if status {
				c.Status = metav1.ConditionTrue
			}
			return meta.SetStatusCondition(&conditions, c)
		}
		changed := set(storagemigrationv1.MigrationRunning, p.running)
		if p.succeeded {
			changed = set(storagemigrationv1.MigrationSucceeded, true) || changed
		}
		if p.failed {
			changed = set(storagemigrationv1.MigrationFailed, true) || changed
		}
		return changed, gvr.SetConditions(obj, conditions)
	})
}

// ended tells whether a migration has Succeeded or Failed, after
// which nothing more happens to it.
func ended(obj *unstructured.Unstructured) bool {
	conditions, err := gvr.Conditions(obj)
	return err == nil && (meta.IsStatusConditionTrue(conditions, string(storagemigrationv1.MigrationSucceeded)) ||
		meta.IsStatusConditionTrue(conditions, string(storagemigrationv1.MigrationFailed)))
}
