package controllertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

var mainKey = controller.Key{GroupResource: controllertest.ConfigMaps, Namespace: "work", Name: "main"}

// copies is a controller that keeps the UID of the main object in another, and says so in
// the main one. It notes what goes wrong.
type copies struct {
	*controllertest.Seat
	mu    *sync.Mutex
	notes map[string]int
}

func (copies) Name() string { return "copies" }

func (copies) Watches() []schema.GroupResource {
	return []schema.GroupResource{controllertest.ConfigMaps}
}

func (c copies) note(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(err, controllertest.ErrAway):
		c.notes["away"]++
	case apierrors.IsAlreadyExists(err):
		c.notes["exists"]++
	case errors.Is(err, context.Canceled):
		c.notes["canceled"]++
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		c.notes["changed"]++
	case err != nil:
		c.notes["ended"]++
	}
	return err
}

func (c copies) Reconcile(ctx context.Context, _ controller.Queue, _ controller.Key) error {
	first, err := c.Get(ctx, mainKey.GroupResource, mainKey.Namespace, mainKey.Name)
	if err != nil {
		return c.note(err)
	}
	labels := map[string]string{"of": string(first.GetUID())}
	second, err := c.Get(ctx, mainKey.GroupResource, mainKey.Namespace, "second")
	switch {
	case apierrors.IsNotFound(err):
		second = &unstructured.Unstructured{Object: controllertest.ObjectTree("work", "second")}
		second.SetLabels(labels)
		_, err = c.Create(ctx, mainKey.GroupResource, second)
	case err == nil && second.GetLabels()["of"] != labels["of"]:
		second.SetLabels(labels)
		_, err = c.Update(ctx, mainKey.GroupResource, "", second)
	}
	if err != nil {
		return c.note(err)
	}
	if first.GetLabels()["copied"] == "" {
		first.SetLabels(map[string]string{"copied": "yes"})
		_, err = c.Update(ctx, mainKey.GroupResource, "", first)
	}
	return c.note(err)
}

// A story is told undisturbed, with a stale cache, with each trouble at each write, and
// with each call failing: each of them comes, and what leads then begins anew.
func TestStoriesHaveTheirTroubles(t *testing.T) {
	var mu sync.Mutex
	worlds, leads, agains, notes := 0, 0, 0, map[string]int{}
	uids := map[string]bool{}
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			worlds++
			o := controllertest.New()
			controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
			controllertest.MustCreate(t, o, mainKey.GroupResource, controllertest.ObjectTree("work", "main"))
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			leads++
			return []controller.Controller{copies{s, &mu, notes}}
		},
		Main:  mainKey,
		Again: func(*testing.T, *controllertest.Objects) { agains++ },
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			first, second := controllertest.MustGet(t, o, mainKey.GroupResource, "work", "main"), controllertest.MustGet(t, o, mainKey.GroupResource, "work", "second")
			uids[string(first.GetUID())] = true
			return fmt.Sprint(second.GetLabels()["of"] == string(first.GetUID()), " ", first.GetLabels()["copied"])
		},
		Want: "true yes",
	}.Tell(t)
	// Two writes: each of four troubles comes twice, and three of them need another leader.
	// Two reads come before each write at least, and each call fails once.
	if calls := worlds - (2 + 4*2); calls < 6 || notes["away"] != calls || leads != worlds+3*2 || agains != 2 || len(uids) < 2 {
		t.Errorf("%d worlds, %d leaders, made again %d times, %d objects", worlds, leads, agains, len(uids))
	}
	for _, what := range []string{"exists", "canceled", "ended", "changed"} {
		if notes[what] == 0 {
			t.Errorf("no write met %q: %v", what, notes)
		}
	}
}

// What tests do to the world beside what clients can.
func TestWhatTestsDoToTheWorld(t *testing.T) {
	ctx := t.Context()
	o := controllertest.WithCronTabs(t, 2)
	names := func(limit int) (all []string, err error) {
		err = o.Visit(ctx, controllertest.CronTabs, "", func(name string, revision int64, read func() (*unstructured.Unstructured, error)) error {
			if obj, err := read(); err != nil || obj.GetResourceVersion() != fmt.Sprint(revision) {
				t.Errorf("%v, of revision %d, %v", obj, revision, err)
			}
			if all = append(all, name); len(all) == limit {
				return errors.New("enough")
			}
			return nil
		})
		return all, err
	}
	all, err := names(0)
	if len(all) != 2 || !slices.IsSorted(all) || err != nil {
		t.Errorf("%q, %v", all, err)
	}
	if some, err := names(1); len(some) != 1 || err == nil {
		t.Errorf("%q, %v", some, err)
	}
	o.Hold(controllertest.CronTabs)
	tree := controllertest.ObjectTree("gone", "smuggled")
	tree["apiVersion"], tree["kind"] = "example.com/v1", "CronTab"
	o.Smuggle(controllertest.CronTabs, tree)
	if late, _ := names(0); len(late) != 2 {
		t.Errorf("what is held is seen: %q", late)
	}
	if err := o.Fresh(ctx); err != nil {
		t.Fatal(err)
	}
	if controllertest.Gone(o, controllertest.CronTabs, "gone", "smuggled") {
		t.Error("what was smuggled is not there")
	}
	o.Break(controllertest.CronTabs)
	if _, err := names(0); !apierrors.IsInternalError(err) {
		t.Error(err)
	}
	if _, err := o.Get(ctx, controllertest.CronTabs, "gone", "smuggled"); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "conversion of smuggled failed") {
		t.Error(err)
	}
	if m, err := o.GetMetadata(ctx, controllertest.CronTabs, "gone", "smuggled"); err != nil || m.Name != "smuggled" {
		t.Error(m, err)
	}
	if _, err := o.GetMetadata(ctx, controllertest.CronTabs, "gone", "other"); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	no := errors.New("no")
	o.Fail(func(string, controller.Key) error { return no })
	_, created := o.Create(ctx, mainKey.GroupResource, &unstructured.Unstructured{Object: controllertest.ObjectTree("work", "x")})
	_, updated := o.Update(ctx, mainKey.GroupResource, "", &unstructured.Unstructured{Object: controllertest.ObjectTree("work", "x")})
	_, listed := o.ListMetadata(ctx, controllertest.CronTabs, "")
	for i, err := range []error{created, updated, listed, o.Delete(ctx, controllertest.CronTabs, "gone", "smuggled", metav1.DeleteOptions{})} {
		if !errors.Is(err, no) {
			t.Errorf("%d: %v", i, err)
		}
	}
	o.Fail(nil)
	controllertest.DeleteDefinition(t, o)
	if controllertest.MustGet(t, o, gvr.Definitions, "", controllertest.CronTabsDefinition).GetDeletionTimestamp() == nil {
		t.Error("the definition is not going")
	}
}
