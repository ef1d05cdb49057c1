package migration_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
)

// A migration ends with every object at the storage version, and says so,
// whatever happens to who carries it out.
func TestMigrationWhateverHappens_CRD32(t *testing.T) {
	var r *memoryRewriter
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.WithCronTabs(t, 0)
			r = newRewriter("v1", oldObjects(3))
			createMigration(t, o, nil)
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			m := migration.New(s, r, r)
			m.Hurry()
			return []controller.Controller{m}
		},
		Main: controller.Key{GroupResource: gvr.Migrations, Name: migrationName},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName)
			ended, _, message := controllertest.Condition(obj, "Succeeded")
			running, _, _ := controllertest.Condition(obj, "Running")
			return fmt.Sprintf("succeeded %s, running %s, %s; %v, stored %v", ended, running, message, r.counts(), storedVersions(t, o))
		},
		Want: "succeeded True, running False, 3 objects are stored at v1; status.storedVersions is [v1]; map[v1:3], stored [v1]",
	}.Tell(t)
}

// A definition that wants it is migrated once for each of its generations.
func TestAutoMigrationWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.WithCronTabs(t, 0)
			wanted(t, o)
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{migration.NewAuto(s)}
		},
		Main: controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition},
		Again: func(t *testing.T, o *controllertest.Objects) {
			controllertest.Establish(t, o, controllertest.CronTabsDefinition, "v1beta1", "v1")
			wanted(t, o)
		},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			all, err := o.List(t.Context(), gvr.Migrations, "")
			if err != nil {
				t.Error(err)
			}
			definition := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
			var of []string // the definition that there is
			for _, m := range all {
				if strings.Contains(m.GetName(), string(definition.GetUID())) {
					resource, _, _ := unstructured.NestedString(m.Object, "spec", "resource", "resource")
					of = append(of, resource)
				}
			}
			return strings.Join(of, ", ")
		},
		Want: "crontabs",
	}.Tell(t)
}

func wanted(t *testing.T, o *controllertest.Objects) {
	t.Helper()
	controllertest.MustChange(t, o, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{migration.AutoAnnotation: "true"})
	})
}
