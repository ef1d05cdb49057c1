package migration_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
)

// A gateway that was stopped for so long that another leads now does not put its
// own progress, nor its conditions, over what that one wrote.
func TestMigration_leavesTheRecordToWhoLeads_CRD32(t *testing.T) {
	const theirs = `{"total":10,"done":7,"rewritten":7,"skipped":0,"failed":0,"rate":1,"cursor":"work/tab-006","pass":1,"storageVersion":"v1","generation":2,"uid":"UID","migration":"MIGRATION"}`
	for name, ended := range map[string]bool{"another is at it": false, "another has ended it": true} {
		t.Run(name, func(t *testing.T) {
			o := controllertest.WithCronTabs(t, 0)
			r := newRewriter("v1", oldObjects(10))
			crd := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
			said := strings.NewReplacer("UID", string(crd.GetUID())).Replace(theirs)
			r.visit = func(_ context.Context, call int, name string) error {
				if call != 1 || name != "work/tab-004" {
					return nil
				}
				left(t, o, said)
				said = controllertest.MustGet(t, o, gvr.Migrations, "", migrationName).GetAnnotations()[migration.ProgressAnnotation]
				if ended {
					controllertest.MustChange(t, o, gvr.Migrations, "status", "", migrationName, func(obj *unstructured.Unstructured) {
						_ = unstructured.SetNestedSlice(obj.Object, []any{map[string]any{"type": "Succeeded", "status": "True", "reason": "Theirs",
							"message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}}, "status", "conditions")
					})
				}
				return nil
			}
			createMigration(t, o, nil)
			stop := startMigration(t, o, r)
			migrationIs(t, o, "Succeeded")
			if !ended {
				if from := r.calls[1].From; from != "work/tab-006" {
					t.Errorf("it went on from %q", from)
				}
				return
			}
			stop()
			if got := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName).GetAnnotations()[migration.ProgressAnnotation]; got != said {
				t.Errorf("the record became %s", got)
			}
		})
	}
}

// Only who finds a record that somebody else left takes account of what was done
// after it; the record tells from which revision on.
func TestMigration_whatTheRecordMayNotTell_CRD32(t *testing.T) {
	for name, tc := range map[string]struct {
		record    string
		from      string
		since, at int64
	}{
		"there is none":              {at: countedAt},
		"left by another":            {record: `{"done":4,"cursor":"work/tab-003","revision":41,"storageVersion":"v1","uid":"UID","migration":"MIGRATION"}`, from: "work/tab-003", since: 41, at: 41},
		"stopped by another":         {record: `{"done":4,"cursor":"work/tab-003","storageVersion":"v1","uid":"UID","migration":"MIGRATION"}`, from: "work/tab-003"},
		"of another storage version": {record: `{"done":4,"cursor":"work/tab-003","revision":41,"storageVersion":"v0","uid":"UID","migration":"MIGRATION"}`, at: countedAt},
	} {
		t.Run(name, func(t *testing.T) {
			o := controllertest.WithCronTabs(t, 0)
			r := newRewriter("v1", oldObjects(10))
			said := map[string]int64{}
			r.visit = func(_ context.Context, call int, name string) error {
				if call == 1 {
					said[name] = progressOf(t, o).Revision
				}
				return nil
			}
			crd := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
			createMigration(t, o, nil)
			if tc.record != "" {
				left(t, o, strings.ReplaceAll(tc.record, "UID", string(crd.GetUID())))
			}
			stop := startMigration(t, o, r)
			migrationIs(t, o, "Succeeded")
			stop()
			if first := r.calls[0]; first.From != tc.from || first.Since != tc.since || r.calls[1] != (migration.RewriteOptions{}) {
				t.Errorf("calls %+v", r.calls)
			}
			begins := "work/tab-000"
			if tc.from != "" {
				begins = "work/tab-004"
			}
			if said[begins] != tc.at || said["work/tab-009"] != rewrittenAt {
				t.Errorf("the record said %v", said)
			}
		})
	}
}
