package migration_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
)

const migrationName = "move"

// oldObjects are n objects at v1beta1.
func oldObjects(n int) map[string]string {
	stored := map[string]string{}
	for i := range n {
		stored[fmt.Sprintf("work/tab-%03d", i)] = "v1beta1"
	}
	return stored
}

func startMigration(t *testing.T, o *controllertest.Objects, r *memoryRewriter) (stop func()) {
	t.Helper()
	m := migration.New(o, r, r)
	m.Hurry()
	return controllertest.Start(t, o, m)
}

func createMigration(t *testing.T, o *controllertest.Objects, annotations map[string]any) {
	t.Helper()
	controllertest.MustCreate(t, o, gvr.Migrations, map[string]any{
		"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration",
		"metadata": map[string]any{"name": migrationName, "annotations": annotations},
		"spec":     map[string]any{"resource": map[string]any{"group": "example.com", "resource": "crontabs"}},
	})
}

func migrationIs(t *testing.T, o *controllertest.Objects, condition string) (message string) {
	t.Helper()
	controllertest.Eventually(t, o, "migration "+condition, func() bool {
		var status string
		status, _, message = controllertest.Condition(controllertest.MustGet(t, o, gvr.Migrations, "", migrationName), condition)
		return status == "True"
	})
	return message
}

func progressOf(t *testing.T, o *controllertest.Objects) (p migration.State) {
	t.Helper()
	text := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName).GetAnnotations()[migration.ProgressAnnotation]
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("progress %q: %v", text, err)
	}
	return p
}

func storedVersions(t *testing.T, o *controllertest.Objects) []string {
	t.Helper()
	crd := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
	versions, _, _ := unstructured.NestedStringSlice(crd.Object, "status", "storedVersions")
	return versions
}

func annotate(t *testing.T, o *controllertest.Objects, key, value string) {
	t.Helper()
	controllertest.MustChange(t, o, gvr.Migrations, "", "", migrationName, func(obj *unstructured.Unstructured) {
		a := obj.GetAnnotations()
		if a == nil {
			a = map[string]string{}
		}
		a[key] = value
		obj.SetAnnotations(a)
	})
}

func TestMigration_rewritesAllThenTrimsStoredVersions_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(50))
	r.visit = func(context.Context, int, string) error {
		if got := storedVersions(t, o); !slices.Equal(got, []string{"v1beta1", "v1"}) {
			t.Errorf("storedVersions is %v during the migration", got)
		}
		return nil
	}
	createMigration(t, o, nil)
	startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	if got := storedVersions(t, o); !slices.Equal(got, []string{"v1"}) {
		t.Errorf("storedVersions %v", got)
	}
	if got := r.counts(); got["v1"] != 50 || len(got) != 1 {
		t.Errorf("stored at %v", got)
	}
	p := progressOf(t, o)
	if p.Total != 50 || p.Done != 50 || p.Rewritten != 50 || p.Skipped != 0 || p.Failed != 0 || p.Rate <= 0 {
		t.Errorf("progress %+v", p)
	}
	svm := controllertest.MustGet(t, o, gvr.Migrations, "", migrationName)
	if status, reason, _ := controllertest.Condition(svm, "Running"); status != "False" || reason != "StorageVersionMigrationSucceeded" {
		t.Errorf("Running %s %s", status, reason)
	}
	if status, _, _ := controllertest.Condition(svm, "Failed"); status != "" {
		t.Errorf("Failed %s", status)
	}
}

func TestMigration_resumesFromItsCursor_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(40))
	killed := make(chan struct{})
	r.visit = func(ctx context.Context, call int, name string) error {
		if call == 1 && name == "work/tab-020" {
			close(killed)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	createMigration(t, o, nil)
	stop := startMigration(t, o, r)
	<-killed
	stop()
	if p := progressOf(t, o); p.Done != 20 || p.Cursor != "work/tab-019" {
		t.Fatalf("saved %+v", p)
	}
	if got := storedVersions(t, o); len(got) != 2 {
		t.Fatalf("storedVersions %v after half a migration", got)
	}

	startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	if from := r.calls[1].From; from != "work/tab-019" {
		t.Errorf("resumed from %q", from)
	}
	if p := progressOf(t, o); p.Done != 40 || p.Rewritten != 40 || p.Total != 40 {
		t.Errorf("progress %+v", p)
	}
	if got := storedVersions(t, o); !slices.Equal(got, []string{"v1"}) {
		t.Errorf("storedVersions %v", got)
	}
}

// A saved cursor is only a hint: one that skips everything must not let old
// objects lose their version.
func TestMigration_doesNotTrustTheCursor_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(10))
	crd := controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition)
	createMigration(t, o, nil)
	left(t, o, fmt.Sprintf(
		`{"total":10,"done":10,"cursor":"zzz","pass":1,"storageVersion":"v1","generation":%d,"uid":%q,"migration":"MIGRATION"}`, crd.GetGeneration(), crd.GetUID()))
	startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	if got := r.counts(); got["v1"] != 10 {
		t.Errorf("stored at %v", got)
	}
}

// An object that a late write leaves behind the cursor is found all the same.
func TestMigration_findsLateWrites_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(10))
	r.visit = func(_ context.Context, call int, name string) error {
		if call == 1 && name == "work/tab-005" {
			r.locked(func() { r.versions["work/aaa-late"] = "v1beta1" })
		}
		return nil
	}
	createMigration(t, o, nil)
	startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	if got := r.counts(); got["v1"] != 11 {
		t.Errorf("stored at %v when storedVersions is %v", got, storedVersions(t, o))
	}
}

func TestMigration_failsWithNames_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(10))
	r.broken["work/tab-003"], r.broken["work/tab-007"] = true, true
	createMigration(t, o, nil)
	startMigration(t, o, r)
	message := migrationIs(t, o, "Failed")
	for _, want := range []string{"2 of 10", "work/tab-003, work/tab-007", "the converter refused it", "storedVersions was left alone"} {
		if !strings.Contains(message, want) {
			t.Errorf("message %q lacks %q", message, want)
		}
	}
	if p := progressOf(t, o); p.Failed != 2 || len(p.Failures) != 2 || p.Rewritten != 8 || p.Done != 10 {
		t.Errorf("progress %+v", p)
	}
	if got := storedVersions(t, o); len(got) != 2 {
		t.Errorf("storedVersions %v", got)
	}
}

func TestMigration_triesFailedObjectsAgain_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(10))
	r.broken["work/tab-003"] = true
	r.visit = func(_ context.Context, call int, _ string) error {
		if call == 2 {
			r.locked(func() { delete(r.broken, "work/tab-003") })
		}
		return nil
	}
	createMigration(t, o, nil)
	startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	if p := progressOf(t, o); p.Failed != 0 || p.Rewritten != 10 {
		t.Errorf("progress %+v", p)
	}
}

// The definition changes in the middle, to a third version and back: what was
// written in between is at v2, and must not lose it.
func TestMigration_definitionChangesMeanwhile_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(10))
	setVersions := func(names ...string) {
		controllertest.MustChange(t, o, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
			obj.Object["spec"] = controllertest.CRDTree("crontabs", "CronTab", names...)["spec"]
		})
	}
	r.visit = func(_ context.Context, call int, name string) error {
		if call == 1 && name == "work/tab-005" {
			setVersions("v1beta1", "v1", "v2")
			r.locked(func() { r.versions["work/tab-000"] = "v2" })
			setVersions("v1beta1", "v2", "v1")
			controllertest.Establish(t, o, controllertest.CronTabsDefinition, "v1beta1", "v1", "v2")
		}
		return nil
	}
	createMigration(t, o, nil)
	startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	if got := r.counts(); got["v1"] != 10 {
		t.Errorf("stored at %v when storedVersions is %v", got, storedVersions(t, o))
	}
	if got := storedVersions(t, o); !slices.Equal(got, []string{"v1"}) {
		t.Errorf("storedVersions %v", got)
	}
}

// The change comes after the last pass, between it and the write of the status.
func TestMigration_definitionChangesAtTheEnd_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", map[string]string{"work/tab": "v1"})
	var once atomic.Bool
	o.Fail(func(op string, key controller.Key) error {
		if op == "update/status" && key.GroupResource == gvr.Definitions && once.CompareAndSwap(false, true) {
			controllertest.MustChange(t, o, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
				obj.Object["spec"] = controllertest.CRDTree("crontabs", "CronTab", "v1beta1", "v1", "v2")["spec"]
			})
			r.locked(func() { r.serving, r.versions["work/new"] = "v2", "v2" })
		}
		return nil
	})
	createMigration(t, o, nil)
	startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	if got := storedVersions(t, o); !slices.Equal(got, []string{"v2"}) {
		t.Errorf("storedVersions %v", got)
	}
	if got := r.counts(); got["v2"] != 2 {
		t.Errorf("stored at %v", got)
	}
}

func TestMigration_waitsUntilTheGatewayWritesTheNewVersion_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1beta1", oldObjects(5))
	createMigration(t, o, nil)
	startMigration(t, o, r)
	controllertest.Eventually(t, o, "waiting", func() bool {
		return strings.Contains(migrationIs(t, o, "Running"), "waiting until crontabs.example.com is written at v1")
	})
	if len(r.calls) != 0 {
		t.Error("began before the new version is written")
	}
	r.locked(func() { r.serving = "v1" })
	migrationIs(t, o, "Succeeded")
}

func TestMigration_pauseAndRate_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(10))
	half := make(chan struct{})
	r.visit = func(ctx context.Context, call int, name string) error {
		if call == 1 && name == "work/tab-005" {
			close(half)
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	createMigration(t, o, map[string]any{migration.RateAnnotation: "25.5"})
	startMigration(t, o, r)
	<-half
	annotate(t, o, migration.PausedAnnotation, "true")
	controllertest.Eventually(t, o, "paused", func() bool {
		status, reason, _ := controllertest.Condition(controllertest.MustGet(t, o, gvr.Migrations, "", migrationName), "Running")
		return status == "False" && reason == "StorageVersionMigrationPaused"
	})
	if p := progressOf(t, o); p.Done != 5 {
		t.Errorf("paused at %+v", p)
	}
	annotate(t, o, migration.PausedAnnotation, "false")
	migrationIs(t, o, "Succeeded")
	if r.calls[0].Rate != 25.5 || r.calls[1].From != "work/tab-004" {
		t.Errorf("calls %+v", r.calls)
	}
}

func TestMigration_refusals(t *testing.T) {
	t.Run("no such resource", func(t *testing.T) {
		o := controllertest.New()
		createMigration(t, o, nil)
		startMigration(t, o, newRewriter("", nil))
		if message := migrationIs(t, o, "Failed"); message != `resource "crontabs.example.com" not found` {
			t.Error(message)
		}
	})
	t.Run("definition going away", func(t *testing.T) {
		o := controllertest.WithCronTabs(t, 0)
		controllertest.DeleteDefinition(t, o)
		createMigration(t, o, nil)
		startMigration(t, o, newRewriter("v1", nil))
		if message := migrationIs(t, o, "Failed"); !strings.Contains(message, "is being deleted") {
			t.Error(message)
		}
	})
	t.Run("bad rate", func(t *testing.T) {
		o := controllertest.WithCronTabs(t, 0)
		createMigration(t, o, map[string]any{migration.RateAnnotation: "fast"})
		startMigration(t, o, newRewriter("v1", nil))
		if message := migrationIs(t, o, "Failed"); !strings.Contains(message, `"fast" is not a number above zero`) {
			t.Error(message)
		}
	})
}

func TestMigration_ofABuiltIn(t *testing.T) {
	o := controllertest.New()
	controllertest.MustCreate(t, o, gvr.Migrations, map[string]any{
		"metadata": map[string]any{"name": migrationName},
		"spec":     map[string]any{"resource": map[string]any{"resource": "configmaps"}},
	})
	startMigration(t, o, newRewriter("v1", map[string]string{"a/b": "old"}))
	if message := migrationIs(t, o, "Succeeded"); message != "1 object is stored at v1" {
		t.Error(message)
	}
}

func TestMigration_storeTrouble_CRD32(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(6))
	r.visit = func(_ context.Context, call int, name string) error {
		if call <= 3 && name == fmt.Sprintf("work/tab-%03d", call) {
			return errors.New("store unavailable")
		}
		return nil
	}
	createMigration(t, o, nil)
	startMigration(t, o, r)
	migrationIs(t, o, "Succeeded")
	if p := progressOf(t, o); p.Done != 6 || p.Rewritten != 6 {
		t.Errorf("progress %+v", p)
	}
}

func TestMigration_deletedWhileRunning(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	r := newRewriter("v1", oldObjects(5))
	stopped := make(chan struct{})
	running := make(chan struct{})
	r.visit = func(ctx context.Context, _ int, _ string) error {
		close(running)
		<-ctx.Done()
		close(stopped)
		return ctx.Err()
	}
	createMigration(t, o, nil)
	startMigration(t, o, r)
	<-running
	if err := o.Delete(context.Background(), gvr.Migrations, "", migrationName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-stopped
}

func TestAutoMigration(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	controllertest.Start(t, o, migration.NewAuto(o))
	all := func() []*unstructured.Unstructured {
		list, err := o.List(context.Background(), gvr.Migrations, "")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	controllertest.MustChange(t, o, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{migration.AutoAnnotation: "true"})
	})
	controllertest.Eventually(t, o, "a migration", func() bool { return len(all()) == 1 })
	if got, _, _ := unstructured.NestedString(all()[0].Object, "spec", "resource", "resource"); got != "crontabs" {
		t.Errorf("migrates %q", got)
	}
	// A status write is no reason for another; a new storage version is.
	controllertest.Establish(t, o, controllertest.CronTabsDefinition, "v1beta1", "v1")
	controllertest.MustChange(t, o, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = controllertest.CRDTree("crontabs", "CronTab", "v1", "v2")["spec"]
	})
	controllertest.Eventually(t, o, "another migration", func() bool { return len(all()) == 2 })
}

// A migration that cannot be begun is told, so that it is tried again; one that is there
// already is no failure.
func TestAutoMigrationThatCannotBeBegun(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	controllertest.Establish(t, o, controllertest.CronTabsDefinition, "v1beta1", "v1")
	controllertest.MustChange(t, o, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		obj.SetAnnotations(map[string]string{migration.AutoAnnotation: "true"})
	})
	var broken error
	o.Fail(func(op string, key controller.Key) error {
		if op == "create" && key.GroupResource == gvr.Migrations {
			return broken
		}
		return nil
	})
	key := controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition}
	for _, broken = range []error{errors.New("no room"), nil, nil} {
		if err := migration.NewAuto(o).Reconcile(t.Context(), nil, key); !errors.Is(err, broken) {
			t.Errorf("told %v, not %v", err, broken)
		}
	}
	if list, err := o.List(t.Context(), gvr.Migrations, ""); err != nil || len(list) != 1 {
		t.Errorf("%d migrations, %v", len(list), err)
	}
}

// A new storage version alone migrates nothing, and storedVersions keeps what
// it has.
func TestStorageVersionChange_CRD25_CRD30(t *testing.T) {
	o := controllertest.WithCronTabs(t, 0)
	controllertest.MustChange(t, o, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(obj *unstructured.Unstructured) {
		obj.Object["spec"] = controllertest.CRDTree("crontabs", "CronTab", "v1beta1", "v1", "v2")["spec"]
	})
	key := controller.Key{GroupResource: gvr.Definitions, Name: controllertest.CronTabsDefinition}
	for _, c := range []controller.Controller{definition.NewStatus(o, definitions.Conditions), migration.NewAuto(o)} {
		if err := c.Reconcile(context.Background(), nil, key); err != nil {
			t.Fatalf("%s: %v", c.Name(), err)
		}
	}
	if got := storedVersions(t, o); !slices.Equal(got, []string{"v1beta1", "v1"}) {
		t.Errorf("storedVersions %v", got)
	}
	if all, err := o.List(context.Background(), gvr.Migrations, ""); err != nil || len(all) != 0 {
		t.Errorf("%d migrations, %v", len(all), err)
	}
}
