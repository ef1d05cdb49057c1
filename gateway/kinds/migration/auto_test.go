package migration_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
)

// Whatever call fails, it is told, and another run makes the migration, once.
func TestFailuresOfAutoMigrationAreTold(t *testing.T) {
	key := controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition}
	controllertest.EachCallFails(t, 3, func() controllertest.Engine {
		o := controllertest.WithCronTabs(t, 0)
		controllertest.MustChange(t, o, gvr.Definitions, "", "", key.Name, func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{migration.AutoAnnotation: "true"})
		})
		return o
	}, func(f *controllertest.Failing) error {
		return migration.NewAuto(f).Reconcile(t.Context(), nil, key)
	}, func(f *controllertest.Failing) error {
		if all, err := f.Engine.List(t.Context(), gvr.Migrations, ""); err != nil || len(all) != 1 {
			return errors.New("there is not one migration")
		}
		return nil
	})
}
