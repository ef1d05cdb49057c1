package migration_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
)

// What a migration reached is not written into another one of its name, which
// was made while it ran.
func TestMigration_anotherOfItsNameBeginsAnew_CRD32(t *testing.T) {
	for name, again := range map[string]map[string]any{
		"paused":    {migration.PausedAnnotation: "true"},
		"as it was": nil,
	} {
		t.Run(name, func(t *testing.T) {
			o := controllertest.WithCronTabs(t, 0)
			r := newRewriter("v1", oldObjects(5))
			var replace sync.Once
			replaced := make(chan struct{}) // until then there may be none
			r.visit = func(_ context.Context, _ int, visited string) error {
				if visited != "work/tab-002" {
					return nil
				}
				failed := false
				replace.Do(func() {
					failed = true
					if err := o.Delete(context.Background(), gvr.Migrations, "", migrationName, metav1.DeleteOptions{}); err != nil {
						t.Error(err)
					}
					createMigration(t, o, again)
					close(replaced)
				})
				if failed { // and what was reached is saved
					return apierrors.NewInternalError(errors.New("the store is away"))
				}
				return nil
			}
			createMigration(t, o, nil)
			startMigration(t, o, r)
			<-replaced
			if again == nil {
				migrationIs(t, o, "Succeeded")
				if p := progressOf(t, o); p.Done != 5 || p.Rewritten != 3 || p.Skipped != 2 {
					t.Errorf("progress %+v", p)
				}
				return
			}
			controllertest.Eventually(t, o, "it is paused", func() bool {
				_, reason, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Migrations, "", migrationName), "Running")
				return reason == "StorageVersionMigrationPaused"
			})
			if text := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName).GetAnnotations()[migration.ProgressAnnotation]; text != "" {
				t.Errorf("a migration that never ran has come to %s", text)
			}
		})
	}
}
