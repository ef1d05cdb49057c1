package controller

import (
	"context"
	"fmt"

	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// migrationPhase is what the conditions of a migration say together. The
// reasons are kube-controller-manager's, but for Paused, which it lacks.
type migrationPhase struct {
	running, succeeded, failed bool
	reason                     string
}

var (
	migrationRunning   = migrationPhase{running: true, reason: "StorageVersionMigrationInProgress"}
	migrationPaused    = migrationPhase{reason: "StorageVersionMigrationPaused"}
	migrationSucceeded = migrationPhase{succeeded: true, reason: "StorageVersionMigrationSucceeded"}
	migrationFailed    = migrationPhase{failed: true, reason: "StorageVersionMigrationFailed"}
)

// report sets the conditions. Running is always there; the other two appear
// when they become true.
func (j *migrationJob) report(ctx context.Context, p migrationPhase, message string) error {
	return j.update(ctx, "status", func(obj *unstructured.Unstructured) (bool, error) {
		conditions, err := migrationConditions(obj)
		if err != nil {
			return false, err
		}
		set := func(t storagemigrationv1.MigrationConditionType, status bool) bool {
			c := metav1.Condition{Type: string(t), Status: metav1.ConditionFalse, Reason: p.reason,
				Message: shorten(message), ObservedGeneration: obj.GetGeneration()}
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
		return changed, setMigrationConditions(obj, conditions)
	})
}

// migrationEnded tells whether a migration has Succeeded or Failed, after
// which nothing more happens to it.
func migrationEnded(obj *unstructured.Unstructured) bool {
	conditions, err := migrationConditions(obj)
	return err == nil && (meta.IsStatusConditionTrue(conditions, string(storagemigrationv1.MigrationSucceeded)) ||
		meta.IsStatusConditionTrue(conditions, string(storagemigrationv1.MigrationFailed)))
}

func migrationConditions(obj *unstructured.Unstructured) ([]metav1.Condition, error) {
	var status storagemigrationv1.StorageVersionMigrationStatus
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(section(obj, "status"), &status); err != nil {
		return nil, fmt.Errorf("read status of migration %q: %w", obj.GetName(), err)
	}
	return status.Conditions, nil
}

// setMigrationConditions leaves the rest of the status as it is.
func setMigrationConditions(obj *unstructured.Unstructured, conditions []metav1.Condition) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(
		&storagemigrationv1.StorageVersionMigrationStatus{Conditions: conditions})
	if err != nil {
		return fmt.Errorf("write status of migration %q: %w", obj.GetName(), err)
	}
	status := section(obj, "status")
	status["conditions"] = tree["conditions"]
	obj.Object["status"] = status
	return nil
}
