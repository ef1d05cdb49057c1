package migration

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// TestFailuresAreCounted: what cannot be rewritten is named below the
// resource's root and moves the metric.
func TestFailuresAreCounted(t *testing.T) {
	w := newWorld(t, 3)
	w.Converter.BreakDown("no such luck")
	reports := 0
	got, err := w.rewriter.Rewrite(t.Context(), controllertest.CronTabs, RewriteOptions{}, func(migrate.Progress) error { reports++; return nil })
	if err != nil || got.Failed != 6 || got.Total != 6 || len(got.Failures) != 6 || reports != 1 {
		t.Fatalf("%+v, %v after %d reports", got, err, reports)
	}
	for _, f := range got.Failures {
		if !strings.Contains(f.Key, "/tab-00") || strings.Contains(f.Key, "crontabs") || !strings.Contains(f.Reason, "no such luck") {
			t.Errorf("failure %+v", f)
		}
	}
	text, err := w.rewriter.Metrics.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`wasmgate_migration_failures_total{group="example.com",resource="crontabs"} 6`,
		`wasmgate_migration_objects_done{group="example.com",resource="crontabs"} 6`,
		`wasmgate_migration_objects_total{group="example.com",resource="crontabs"} 6`,
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}
