package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// world is a real engine with CronTabs in two namespaces, stored at v1beta1,
// whose storage version is now v1.
type world struct {
	*realengine.Engine
	t        *testing.T
	rewriter Passes
}

func newWorld(t *testing.T, each int) *world {
	t.Helper()
	e := realengine.Start(t)
	w := &world{e, t, Passes{Catalog: e.Catalog, Store: e.Store, Metrics: metrics.New()}}
	w.define("v1", "v1beta1") // the last one is the storage version
	for _, ns := range []string{"one", "two"} {
		controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree(ns))
		for i := range each {
			tree := controllertest.ObjectTree(ns, fmt.Sprintf("tab-%03d", i))
			tree["hostPort"] = "h:1"
			controllertest.MustCreate(t, e, controllertest.CronTabs, tree)
		}
	}
	w.define("v1beta1", "v1")
	return w
}

// define makes or changes the definition, and waits until it is served so.
func (w *world) define(versions ...string) {
	w.t.Helper()
	storage := versions[len(versions)-1]
	tree := controllertest.CRDTree("crontabs", "CronTab", versions...)
	tree["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": "https://127.0.0.1/"},
	}}
	if controllertest.Gone(w, gvr.Definitions, "", controllertest.CronTabsDefinition) {
		controllertest.MustCreate(w.t, w, gvr.Definitions, tree)
		if err := w.Fresh(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		controllertest.Establish(w.t, w, controllertest.CronTabsDefinition, storage)
	} else {
		controllertest.MustChange(w.t, w, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(o *unstructured.Unstructured) {
			o.Object["spec"] = tree["spec"]
		})
		if err := w.Fresh(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		controllertest.Establish(w.t, w, controllertest.CronTabsDefinition, "v1beta1", "v1")
	}
	controllertest.Eventually(w.t, w, "written at "+storage, func() bool {
		version, ok := Passes{Catalog: w.Catalog}.Serving(w.t.Context(), controllertest.CronTabs)
		return ok && version == storage
	})
}

// versions counts the stored CronTabs by version.
func (w *world) versions() map[string]int {
	w.t.Helper()
	page, err := w.Store.Range(w.t.Context(), storage.Range{Prefix: "/registry/example.com/crontabs/"})
	if err != nil {
		w.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, kv := range page.KVs {
		var o struct{ APIVersion, Host, HostPort string }
		if err := json.Unmarshal(kv.Value, &o); err != nil {
			w.t.Fatal(err)
		}
		if (o.APIVersion == "example.com/v1") != (o.Host == "h") || o.HostPort != "h:1" {
			w.t.Errorf("%s is not converted: %s", kv.Key, kv.Value)
		}
		counts[strings.TrimPrefix(o.APIVersion, "example.com/")]++
	}
	return counts
}

func (w *world) migrate(objects Objects) (stop func()) {
	w.t.Helper()
	return controllertest.Start(w.t, w, New(objects, w.rewriter, w.rewriter))
}

func (w *world) order() {
	w.t.Helper()
	controllertest.MustCreate(w.t, w, gvr.Migrations, map[string]any{
		"apiVersion": "storagemigration.k8s.io/v1", "kind": "StorageVersionMigration", "metadata": map[string]any{"name": "move"},
		"spec": map[string]any{"resource": map[string]any{"group": "example.com", "resource": "crontabs"}},
	})
}

func (w *world) is(condition string) (message string) {
	w.t.Helper()
	controllertest.Eventually(w.t, w, condition, func() bool {
		obj, err := w.Get(w.t.Context(), gvr.Migrations, "", "move")
		if err != nil {
			return false
		}
		var status string
		status, _, message = controllertest.Condition(obj, condition)
		return status == "True"
	})
	return message
}

func (w *world) storedVersions() []string {
	w.t.Helper()
	if err := w.Fresh(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	obj := controllertest.MustGet(w.t, w, gvr.Definitions, "", controllertest.CronTabsDefinition)
	versions, _, _ := unstructured.NestedStringSlice(obj.Object, "status", "storedVersions")
	return versions
}

func TestMigrationOnTheRealEngine_CRD32(t *testing.T) {
	w := newWorld(t, 30)
	if got := w.versions(); got["v1beta1"] != 60 || len(got) != 1 {
		t.Fatalf("stored: %v", got)
	}
	w.migrate(w)
	w.order()
	if message := w.is("Succeeded"); message != "60 objects are stored at v1; status.storedVersions is [v1]" {
		t.Error(message)
	}
	if got := w.versions(); got["v1"] != 60 || len(got) != 1 {
		t.Errorf("stored: %v", got)
	}
	if got := w.storedVersions(); !slices.Equal(got, []string{"v1"}) {
		t.Errorf("storedVersions %v", got)
	}
}

// dying are objects whose user is killed when it is about to write the status
// of a definition.
type dying struct {
	Objects
	killed chan struct{}
	once   atomic.Bool
}

func (d *dying) Update(ctx context.Context, gr schema.GroupResource, subresource string, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if gr == gvr.Definitions && d.once.CompareAndSwap(false, true) {
		close(d.killed)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return d.Objects.Update(ctx, gr, subresource, obj)
}

// A gateway that is killed between the last rewrite and the trim has trimmed
// nothing; the next one finds out that nothing is left to do, and trims.
func TestMigrationKilledBeforeTheTrim_CRD32(t *testing.T) {
	w := newWorld(t, 5)
	d := &dying{Objects: w, killed: make(chan struct{})}
	stop := w.migrate(d)
	w.order()
	<-d.killed
	stop()
	if got := w.versions(); got["v1"] != 10 || len(got) != 1 {
		t.Errorf("stored before the kill: %v", got)
	}
	if got := w.storedVersions(); !slices.Equal(got, []string{"v1beta1", "v1"}) {
		t.Errorf("storedVersions %v", got)
	}
	w.migrate(w)
	w.is("Succeeded")
	if got := w.storedVersions(); !slices.Equal(got, []string{"v1"}) {
		t.Errorf("storedVersions in the end %v", got)
	}
}

// What the converter refuses is named, and nothing is trimmed.
func TestMigrationThatFails_CRD32(t *testing.T) {
	w := newWorld(t, 1)
	controllertest.MustCreate(t, w, gvr.Namespaces, controllertest.NamespaceTree("three"))
	w.define("v1", "v1beta1")
	tree := controllertest.ObjectTree("three", "bad-one")
	tree["hostPort"] = "h:1"
	controllertest.MustCreate(t, w, controllertest.CronTabs, tree)
	w.define("v1beta1", "v1")
	w.migrate(w)
	w.order()
	message := w.is("Failed")
	if !strings.HasPrefix(message, "1 of 3 objects could not be rewritten (three/bad-one): ") || !strings.Contains(message, "bad-one cannot be converted") {
		t.Error(message)
	}
	if got := w.storedVersions(); !slices.Equal(got, []string{"v1beta1", "v1"}) {
		t.Errorf("storedVersions %v", got)
	}
	body, err := w.rewriter.Metrics.Render()
	if err != nil || !strings.Contains(string(body), `resource="crontabs"`) {
		t.Errorf("no metric of the migration: %v", err)
	}
}

func TestCountAndRewrite_unknownResource(t *testing.T) {
	w := newWorld(t, 1)
	none := schema.GroupResource{Group: "example.com", Resource: "nothings"}
	if _, _, err := w.rewriter.Count(t.Context(), none); err == nil {
		t.Error("nothing was counted")
	}
	p, err := w.rewriter.Rewrite(t.Context(), none, RewriteOptions{From: "here"}, func(migrate.Progress) error { return nil })
	if err == nil || p.Cursor != "here" {
		t.Errorf("%+v, %v", p, err)
	}
	if n, rev, err := w.rewriter.Count(t.Context(), controllertest.CronTabs); n != 2 || rev == 0 || err != nil {
		t.Errorf("%d of %d, %v", n, rev, err)
	}
	if v, ok := w.rewriter.Serving(t.Context(), none); ok || v != "" {
		t.Errorf("serving %s", v)
	}
	stop := errors.New("stop")
	if _, err := w.rewriter.Rewrite(t.Context(), controllertest.CronTabs, RewriteOptions{}, func(migrate.Progress) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a progress that fails: %v", err)
	}
}

// A rewrite under a definition that is no longer the stored one commits
// nothing, so that a gateway that lost the lead cannot bring an old version
// back.
func TestRewriteUnderAFormerDefinition_CRD32(t *testing.T) {
	w := newWorld(t, 1)
	former, err := w.Catalog.Resource(controllertest.CronTabs)
	if err != nil {
		t.Fatal(err)
	}
	page, err := w.Store.Range(t.Context(), storage.Range{Prefix: former.Root()})
	if err != nil || len(page.KVs) != 2 {
		t.Fatalf("%d stored, %v", len(page.KVs), err)
	}
	f := fenced{w.Store, former}
	if _, err := f.Update(t.Context(), page.KVs[0].Key, page.KVs[0].Value, page.KVs[0].Revision, 0); err != nil {
		t.Errorf("under the present definition: %v", err)
	}
	w.define("v1", "v1beta1")
	if _, err := f.Update(t.Context(), page.KVs[1].Key, page.KVs[1].Value, page.KVs[1].Revision, 0); storage.KindOf(err) != storage.Changed {
		t.Errorf("under the former definition: %v", err)
	}
}

// A change of the definition ends a rewrite, and is no failure of those objects that were still
// to come: a change of what is said of them, and one of the revision alone.
func TestARewriteEndsWithItsDefinition_CRD32(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"the versions": func(w *world) { w.define("v1", "v1beta1") },
		"an annotation": func(w *world) {
			controllertest.MustChange(w.t, w, gvr.Definitions, "", "", controllertest.CronTabsDefinition, func(o *unstructured.Unstructured) {
				o.SetAnnotations(map[string]string{"a": "b"})
			})
		},
	} {
		w := newWorld(t, 3) // in each of two namespaces
		p, err := w.rewriter.Rewrite(t.Context(), controllertest.CronTabs, RewriteOptions{Rate: 1}, func(p migrate.Progress) error {
			if p.Done == 1 {
				change(w)
			}
			if name == "an annotation" && p.Done > 1 { // it is known here by now
				return ErrDefinitionChanged
			}
			return nil
		})
		if !errors.Is(err, ErrDefinitionChanged) || p.Failed != 0 || p.Done > 2 || !strings.Contains(p.Cursor, "/one/") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// staling is a store whose values below a prefix are stale until they are written once
// more, and unreadable if they are empty.
type staling struct {
	storage.Store
	prefix string
	before int64
}

func (s staling) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	page, err := s.Store.Range(ctx, r)
	for i := range page.KVs {
		kv := &page.KVs[i]
		switch {
		case !strings.HasPrefix(kv.Key, s.prefix) || kv.Revision > s.before:
		case len(kv.Value) == 0:
			kv.Keeping = storage.Unreadable
		default:
			kv.Keeping = storage.Stale
		}
	}
	return page, err
}

// TestContentsAreRewritten: what belongs to a resource and is no object is rewritten
// after its objects, counted with them, and gone on with from a cursor among it.
func TestContentsAreRewritten(t *testing.T) {
	w := newWorld(t, 2) // in each of two namespaces
	var last int64
	for _, key := range []string{"a", "b", "bad", "c"} {
		rev, err := w.Store.Create(t.Context(), "/contents/"+key, []byte(strings.TrimPrefix(key, "bad")), 0)
		if err != nil {
			t.Fatal(err)
		}
		last = rev
	}
	w.rewriter.Store = staling{w.Store, "/contents/", last}
	w.rewriter.Contents = map[schema.GroupResource]string{controllertest.CronTabs: "/contents/"}
	rewrite := func(from string) migrate.Progress {
		t.Helper()
		got, err := w.rewriter.Rewrite(t.Context(), controllertest.CronTabs, RewriteOptions{From: from}, func(migrate.Progress) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := rewrite("/contents/a"); got.Done != 3 || got.Rewritten != 2 || got.Failed != 1 || got.Cursor != "/contents/c" {
		t.Errorf("from the first content on: %+v", got)
	}
	if got := w.versions(); got["v1"] != 0 {
		t.Errorf("objects were looked at again: %v", got)
	}
	got := rewrite("")
	if got.Total != 8 || got.Done != 8 || got.Rewritten != 5 || got.Skipped != 2 || got.Failed != 1 || len(got.Failures) != 1 || got.Failures[0].Key != "bad" {
		t.Errorf("all: %+v", got)
	}
	if got := rewrite(""); got.Rewritten != 0 || got.Skipped != 7 {
		t.Errorf("once more: %+v", got)
	}
}

// A value that is kept otherwise than it would be now is rewritten as it is.
func TestStaleObjectsAreRewritten(t *testing.T) {
	w := newWorld(t, 2)
	if _, err := w.rewriter.Rewrite(t.Context(), controllertest.CronTabs, RewriteOptions{}, func(migrate.Progress) error { return nil }); err != nil {
		t.Fatal(err)
	}
	now, err := w.Store.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.rewriter.Store = staling{w.Store, "/registry/example.com/crontabs/one/", now}
	got, err := w.rewriter.Rewrite(t.Context(), controllertest.CronTabs, RewriteOptions{}, func(migrate.Progress) error { return nil })
	if err != nil || got.Rewritten != 2 || got.Skipped != 2 || got.Failed != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := w.versions(); got["v1"] != 4 {
		t.Errorf("stored: %v", got)
	}
}
