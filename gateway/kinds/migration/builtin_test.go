package migration_test

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
)

// left lets a migration have come to a state, in which MIGRATION is its uid.
func left(t *testing.T, o *controllertest.Objects, state string) {
	t.Helper()
	uid := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName).GetUID()
	annotate(t, o, migration.ProgressAnnotation, strings.ReplaceAll(state, "MIGRATION", string(uid)))
}

// Of a built-in kind, too, what lies before the cursor of another run is looked at again:
// the key that it was encrypted with may be the first no more.
func TestMigration_ofABuiltInGoesOnAndLooksAgain(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, gvr.Migrations, map[string]any{
		"metadata": map[string]any{"name": migrationName},
		"spec":     map[string]any{"resource": map[string]any{"resource": "configmaps"}},
	})
	left(t, o, `{"total":4,"done":2,"rewritten":2,"cursor":"a/b","pass":1,"storageVersion":"v1","migration":"MIGRATION"}`)
	r := newRewriter("v1", map[string]string{"a/a": "old", "a/b": "v1", "a/c": "v1", "a/d": "old"})
	stop := startMigration(t, o, r)
	message := migrationIs(t, o, "Succeeded")
	stop()
	if message != "4 objects are stored at v1" || r.counts()["v1"] != 4 {
		t.Errorf("%s: %v", message, r.counts())
	}
	if len(r.calls) != 3 || r.calls[0].From != "a/b" || r.calls[1].From != "" || r.calls[2].From != "" {
		t.Errorf("it went through them as %+v", r.calls)
	}
}

// What a migration reached is not what another reached that was made of its text.
func TestMigration_aCopyBeginsAtTheBeginning(t *testing.T) {
	for name, theirs := range map[string]string{"another's": `"another"`, "nobody's": `""`} {
		t.Run(name, func(t *testing.T) {
			o := controllertest.New()
			controllertest.MustCreate(t, o, gvr.Migrations, map[string]any{
				"metadata": map[string]any{"name": migrationName, "annotations": map[string]any{
					migration.ProgressAnnotation: `{"total":4,"done":3,"rewritten":3,"failedPasses":2,"cursor":"a/c","pass":1,"storageVersion":"v1","migration":` + theirs + `}`,
				}},
				"spec": map[string]any{"resource": map[string]any{"resource": "configmaps"}},
			})
			r := newRewriter("v1", map[string]string{"a/a": "old", "a/d": "old"})
			stop := startMigration(t, o, r)
			migrationIs(t, o, "Succeeded")
			stop()
			if r.calls[0].From != "" || r.counts()["v1"] != 2 {
				t.Errorf("it began at %q and left %v", r.calls[0].From, r.counts())
			}
			if p := progressOf(t, o); p.Done != 2 || p.Rewritten != 2 || p.Migration != controllertest.MustGet(t, o, gvr.Migrations, "", migrationName).GetUID() {
				t.Errorf("it says %+v", p)
			}
		})
	}
}
