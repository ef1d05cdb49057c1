package read_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/crd/builtin"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/etcd"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

func TestOverEtcd_PER01_RV05_UPD03_RVL5(t *testing.T) {
	server, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	a := worldOver(t, server.Store())
	b := worldOver(t, server.Store()) // a second gateway
	first, _, third := a.history()
	for _, w := range []*world{a, b} {
		l, err := w.list(w.at(v1, ""), internalversion.ListOptions{})
		if err != nil || w.shown(l) != "a:2 c:1" || l.Revision < third {
			t.Errorf("most recent: %v, %v", l, err)
		}
		l, err = w.list(w.at(v1, ""), internalversion.ListOptions{ResourceVersion: fmt.Sprint(first), ResourceVersionMatch: "Exact", Limit: 9})
		if err != nil || w.shown(l) != "a:1 b:1" || l.Revision != first {
			t.Errorf("exact: %v, %v", l, err)
		}
	}
	// Both change one object at the same time, each from a cache that does not
	// know what the other just did.
	var wg sync.WaitGroup
	for _, w := range []*world{a, b} {
		for i := range 4 {
			wg.Go(func() {
				for n := range 10 {
					patch := fmt.Appendf(nil, `{"metadata":{"labels":{"%p-%d-%d":"x"}}}`, w, i, n)
					if _, err := w.Patch(w.ctx(), w.at(v1, "a"), types.MergePatchType, patch, resource.WriteOptions{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	if x, y := a.read(a.at(v1, "a")), b.read(b.at(v1, "a")); len(x.GetLabels()) != 80 || x.GetResourceVersion() != y.GetResourceVersion() || x.GetUID() != y.GetUID() {
		t.Errorf("%d of 80 changes are left; %s and %s", len(x.GetLabels()), x.GetResourceVersion(), y.GetResourceVersion())
	}
}

// lifetimes is a store that notes the time to live of the last put.
type lifetimes struct {
	storage.Store
	last time.Duration
}

func (l *lifetimes) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	l.last = ttl
	return l.Store.Create(ctx, key, value, ttl)
}

func (l *lifetimes) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	l.last = ttl
	return l.Store.Update(ctx, key, value, rev, ttl)
}

func TestEventsKeepTheirTimeToLive(t *testing.T) {
	store := &lifetimes{Store: storagetest.NewMemory()}
	w := worldOver(t, store)
	one := w.builtin("events", "default", "one")
	check := func(what string) {
		t.Helper()
		if store.last != builtin.DefaultEventTTL {
			t.Errorf("%s: an event that lives %v", what, store.last)
		}
		store.last = 0
	}
	w.create(w.builtin("events", "default", ""), `{"apiVersion":"v1","kind":"Event","metadata":{"name":"one","finalizers":["example.com/f"]},"involvedObject":{"namespace":"default"}}`)
	check("create")
	w.must(w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"count":2}`), resource.WriteOptions{}))
	check("update")
	w.must(w.Delete(w.ctx(), one, &metav1.DeleteOptions{}, resource.WriteOptions{}))
	check("mark as deleted")
	if _, changed, err := one.Resource.Rewrite(w.ctx(), w.raw(one)); changed || err != nil {
		t.Errorf("rewrite: %v, %v", changed, err)
	}
	w.create(w.builtin("configmaps", "default", ""), configMap("one", "1"))
	if store.last != 0 {
		t.Error("a ConfigMap expires")
	}
}

func TestStoreTrouble_RV06(t *testing.T) {
	store := storagetest.NewMemory()
	w := worldOver(t, store)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	w.wait(w.revision())
	store.Down(errors.New("gone fishing"))
	one := w.at(v1, "one")
	if _, err := w.Entry(w.ctx(), one, "0"); err != nil { // RV-06: any state
		t.Error(err)
	}
	_, err := w.Entry(w.ctx(), one, "")
	refused(t, err, 503, "ServiceUnavailable", "etcd does not answer")
	_, err = w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"port":"2"}`), resource.WriteOptions{})
	refused(t, err, 500, "", "the store did not confirm the write")
	_, err = w.Create(w.ctx(), w.at(v1, ""), []byte(tab(v1, "two", "h", "1")), resource.WriteOptions{})
	refused(t, err, 500, "", "the store did not confirm the write")
	_, err = w.Delete(w.ctx(), one, &metav1.DeleteOptions{}, resource.WriteOptions{})
	refused(t, err, 500, "", "the store did not confirm the write")
	store.Down(nil)
	w.must(w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"port":"2"}`), resource.WriteOptions{}))
	_, err = w.Create(w.ctx(), w.builtin("configmaps", "default", ""), []byte(configMap("big", string(make([]byte, 400<<10)))), resource.WriteOptions{})
	if !apierrors.IsRequestEntityTooLargeError(err) && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Errorf("too large: %v", err)
	}
}

func TestReads_RV04_RV15(t *testing.T) {
	w := newWorld(t)
	_, _, third := w.history()
	a := w.at(v1, "a")
	e, err := w.Entry(w.ctx(), a, fmt.Sprint(third))
	if err != nil || e.Revision > third {
		t.Errorf("not older than: %v, %v", e, err)
	}
	_, err = w.Entry(w.ctx(), a, "abc")
	refused(t, err, 400, "BadRequest", "invalid resource version")
	_, err = w.Entry(w.ctx(), w.at(v1, "none"), "")
	refused(t, err, 404, "NotFound", `crontabs.example.com "none" not found`)
	ctx, cancel := context.WithCancel(w.ctx())
	cancel()
	_, err = w.Entry(ctx, a, fmt.Sprint(third+1000))
	refused(t, err, 504, "Timeout", "")
}

// keeping is a store that keeps what it is told to have kept in a certain way.
type keeping struct {
	storage.Store
	as storage.Keeping
}

func (k *keeping) Get(ctx context.Context, key string) (storage.KV, error) {
	kv, err := k.Store.Get(ctx, key)
	kv.Keeping = k.as
	return kv, err
}

// What is read for a write tells whether it has to be written anew though nothing changes,
// whether the cache has it already or not.
func TestWhatIsReadForAWriteTellsHowItIsKept(t *testing.T) {
	store := &keeping{Store: storagetest.NewMemory()}
	w := worldOver(t, store)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	w.wait(w.revision())
	one := w.at(v1, "one")
	for as, want := range map[storage.Keeping]bool{storage.Kept: false, storage.Stale: true} {
		store.as = as
		if got, err := w.Current(w.ctx(), one, true); err != nil || !got.Live || got.Stale != want {
			t.Errorf("kept as %v: %+v, %v", as, got, err)
		}
		if got, err := w.Current(w.ctx(), one, false); err != nil || got.Live || got.Stale {
			t.Errorf("of the cache, kept as %v: %+v, %v", as, got, err)
		}
	}
}
