package recount_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota/recount"
)

// visited are objects that are visited as they are.
type visited struct{ *controllertest.Failing }

func (v visited) Visit(ctx context.Context, gr schema.GroupResource, namespace string, fn func(name string, revision int64, read func() (*unstructured.Unstructured, error)) error) error {
	return v.Engine.(*controllertest.Objects).Visit(ctx, gr, namespace, fn)
}

// counted has a namespace with a quota and what that counts.
func counted(t *testing.T, hard map[string]any) *controllertest.Objects {
	t.Helper()
	o := controllertest.New(&crd.Definition{Plural: gvr.Quotas.Resource, Kind: "ResourceQuota", Namespaced: true, StorageVersion: "v1", KeyPrefix: gvr.Quotas.Resource})
	controllertest.MustCreate(t, o, gvr.Namespaces, controllertest.NamespaceTree("work"))
	controllertest.MustCreate(t, o, controllertest.ConfigMaps, controllertest.ObjectTree("work", "a"))
	controllertest.MustCreate(t, o, gvr.Quotas, map[string]any{"metadata": map[string]any{"name": "q", "namespace": "work"}, "spec": map[string]any{"hard": hard}})
	return o
}

var work = controller.Key{GroupResource: gvr.Quotas, Namespace: "work", Name: "q"}

// Whatever call fails, it is told, and another run counts.
func TestFailuresToCountAreTold(t *testing.T) {
	controllertest.EachCallFails(t, 3, func() controllertest.Engine { return counted(t, map[string]any{"configmaps": "5"}) }, func(f *controllertest.Failing) error {
		return recount.New(visited{f}).Reconcile(t.Context(), nil, work)
	}, func(f *controllertest.Failing) error {
		if used, _, _ := unstructured.NestedString(controllertest.MustGet(t, f.Engine, gvr.Quotas, "work", "q").Object, "status", "used", "configmaps"); used != "1" {
			return errors.New("used are " + used)
		}
		return nil
	})
}

// A quota, or an object, that cannot be read is told of, and keeps no other quota waiting.
func TestWhatCannotBeReadIsToldOf(t *testing.T) {
	o := counted(t, map[string]any{"configmaps": "5"})
	controllertest.MustCreate(t, o, gvr.Quotas, map[string]any{"metadata": map[string]any{"name": "a", "namespace": "work"}, "spec": "text"})
	controllertest.MustCreate(t, o, gvr.Pods, map[string]any{"metadata": map[string]any{"name": "p", "namespace": "work"}, "spec": "text"})
	controllertest.MustCreate(t, o, gvr.Quotas, map[string]any{"metadata": map[string]any{"name": "b", "namespace": "work"}, "spec": map[string]any{"hard": map[string]any{"requests.cpu": "5"}}})
	if err := recount.New(o).Reconcile(t.Context(), nil, work); err == nil {
		t.Error("it is not told")
	}
	if used, _, _ := unstructured.NestedString(controllertest.MustGet(t, o, gvr.Quotas, "work", "q").Object, "status", "used", "configmaps"); used != "1" {
		t.Errorf("used are %s", used)
	}
	for _, name := range []string{"a", "b"} {
		if controllertest.MustGet(t, o, gvr.Quotas, "work", name).Object["status"] != nil {
			t.Errorf("%s says something", name)
		}
	}
}

// silent tells nothing of ConfigMaps but, once history is lost, that some may be gone.
type silent struct {
	*controllertest.Objects
	lost chan struct{}
}

func (s silent) Follow(ctx context.Context, gr schema.GroupResource, fn func(namespace, name string)) error {
	if gr != controllertest.ConfigMaps {
		return s.Objects.Follow(ctx, gr, fn)
	}
	select {
	case <-s.lost:
		fn("", "")
		<-ctx.Done()
	case <-ctx.Done():
	}
	return nil
}

// asked is a queue that tells what is added.
type asked struct {
	controller.Queue
	added chan controller.Key
}

func (a asked) Add(key controller.Key) { a.added <- key }

// All namespaces with quotas are counted again where history was lost.
func TestCountsAgainWhereHistoryWasLost(t *testing.T) {
	s := silent{counted(t, map[string]any{"configmaps": "5"}), make(chan struct{})}
	c := recount.New(s)
	if err := c.Reconcile(t.Context(), nil, work); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	q, ended := asked{added: make(chan controller.Key, 1)}, make(chan error, 1)
	go func() { ended <- c.Work(ctx, q) }()
	close(s.lost)
	select {
	case key := <-q.added:
		if key.GroupResource != gvr.Quotas || key.Namespace != "work" {
			t.Errorf("counts %v", key)
		}
	case <-time.After(20 * time.Second):
		t.Error("nothing is counted")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
