package write

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// A write that began under a definition commits nothing once there is another,
// and whoever is turned away finds the new one, which is there by then.
func TestDefinitionReplacedWithWritesInFlight_CRD24(t *testing.T) {
	w := newWorld(t)
	old := w.at(v1beta1, "one")
	watch := w.watch(old, internalversion.ListOptions{ResourceVersion: "0"})
	release := w.conv.Block()
	defer release()
	made := make(chan error, 1)
	go func() {
		_, err := w.Create(w.ctx(), old, []byte(tab(v1beta1, "one", "h", "1")), resource.WriteOptions{})
		made <- err
	}()
	w.conv.Await(1) // until it is being converted to the old storage version
	w.define(v1beta1, false)
	<-watch.Replaced
	if v, ok := w.catalog.Serving(cronTabs); v != v1beta1 || !ok {
		t.Errorf("serving %s, %v", v, ok)
	}
	_, err := w.Create(w.ctx(), old, []byte(tab(v1beta1, "two", "h", "1")), resource.WriteOptions{})
	if !errors.Is(err, catalog.ErrReplaced) {
		t.Errorf("a write under the former definition: %v", err)
	}
	if current := w.at(v1beta1, ""); current.Resource == old.Resource || current.Resource.Def.StorageVersion != v1beta1 {
		t.Error("what came instead is not there")
	}
	release()
	if err := <-made; !errors.Is(err, catalog.ErrReplaced) {
		t.Errorf("the write in flight: %v", err)
	}
	if _, err := w.store.Get(w.ctx(), old.Resource.Key("default", "one")); storage.KindOf(err) != storage.NotFound {
		t.Errorf("it was stored: %v", err)
	}
}

// A creation that waits for a converter on one gateway while another lets the
// definition go leaves nothing behind.
func TestDefinitionDeletedByAnotherGateway_CRD24(t *testing.T) {
	store := storagetest.NewMemory()
	a := worldOver(t, store)
	b := worldOver(t, store)
	release := b.conv.Block()
	defer release()
	made := make(chan error, 1)
	at := b.at(v1beta1, "one")
	go func() {
		_, err := b.Create(b.ctx(), at, []byte(tab(v1beta1, "one", "h", "1")), resource.WriteOptions{})
		made <- err
	}()
	b.conv.Await(1)
	// Gateway a: the definition is marked, has no instances, and goes.
	a.define(v1, true)
	crds := a.builtin("customresourcedefinitions", "", "crontabs.example.com")
	key := crds.Resource.Key("", "crontabs.example.com")
	rev, err := store.Delete(a.ctx(), key, a.raw(crds).Revision)
	if err != nil {
		t.Fatal(err)
	}
	// Gateway b may not even know it yet.
	release()
	if err := <-made; !errors.Is(err, catalog.ErrReplaced) {
		t.Errorf("the creation in flight: %v", err)
	}
	b.wait(rev)
	page, err := store.Range(a.ctx(), storage.Range{Prefix: at.Resource.Root()})
	if err != nil || len(page.KVs) != 0 {
		t.Errorf("orphans: %v, %v", page.KVs, err)
	}
}

// A creation that the store refuses because the definition is gone answers as if
// there were none, though the gateway has only seen that it is being deleted.
func TestDefinitionGoneBeforeAGatewayKnows_CRD24(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.NewMemory()
		a := worldOver(t, store)
		b := worldOver(t, store)
		at := b.at(v1beta1, "one")
		proceed := b.conv.Block()
		defer proceed()
		made := make(chan error, 1)
		go func() {
			_, err := b.Create(b.ctx(), at, []byte(tab(v1beta1, "one", "h", "1")), resource.WriteOptions{})
			made <- err
		}()
		b.conv.Await(1)
		a.define(v1, true)
		b.wait(b.raw(b.builtin("customresourcedefinitions", "", "crontabs.example.com")).Revision)
		synctest.Wait()
		release := b.store.holdUp()
		crds := a.builtin("customresourcedefinitions", "", "crontabs.example.com")
		if _, err := store.Delete(a.ctx(), crds.Resource.Key("", "crontabs.example.com"), a.raw(crds).Revision); err != nil {
			t.Fatal(err)
		}
		proceed()
		synctest.Wait()
		if len(made) != 0 {
			release()
			t.Fatalf("answered from a definition that is gone: %v", <-made)
		}
		release()
		if err := <-made; !errors.Is(err, catalog.ErrReplaced) {
			t.Errorf("the creation in flight: %v", err)
		}
		if b.catalog.Snapshot().Resource(cronTabs) != nil {
			t.Error("whoever is turned away finds the definition again")
		}
	})
}

// A change of a definition that changes nothing of what is served disturbs no
// write, on whichever gateway.
func TestDefinitionTouchedByAnotherGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.NewMemory()
		a := worldOver(t, store)
		b := worldOver(t, store)
		before := b.at(v1, "").Resource
		release := b.store.holdUp() // b does not see the change before it writes
		a.define(v1, false)
		made := make(chan error, 1)
		go func() {
			_, err := b.Create(b.ctx(), b.at(v1, ""), []byte(tab(v1, "one", "h", "1")), resource.WriteOptions{})
			made <- err
		}()
		synctest.Wait()
		if len(made) != 0 {
			t.Fatalf("written under a definition that is not known: %v", <-made)
		}
		release()
		if err := <-made; err != nil {
			t.Error(err)
		}
		if b.at(v1, "").Resource != before {
			t.Error("another form is served")
		}
		b.create(b.at(v1, ""), tab(v1, "two", "h", "1"))

		// Whoever waits for a change that does not come waits no longer than it may.
		release = b.store.holdUp()
		defer release()
		a.define(v1, false)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := b.Create(ctx, b.at(v1, ""), []byte(tab(v1, "three", "h", "1")), resource.WriteOptions{}); !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) {
			t.Errorf("%v", err)
		}
	})
}

// Writers that look the resource up again when they are told to never fail,
// however often the definition changes, and what is stored is always at a
// version that was settled or is served.
func TestWritersAcrossDefinitions_CRD24_CRD33(t *testing.T) {
	w := newWorld(t)
	const writers = 4
	for i := range writers {
		w.create(w.at(v1, ""), tab(v1, fmt.Sprintf("tab-%d", i), "h", "0"))
	}
	var stop atomic.Bool
	var writes, turnedAway atomic.Int64
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := 0; !stop.Load(); n++ {
				_, err := resource.Again(func() (*resource.Written, error) {
					out, err := w.Patch(w.ctx(), w.at(v1, fmt.Sprintf("tab-%d", i)), types.MergePatchType, fmt.Appendf(nil, `{"port":"%d"}`, n%1000), resource.WriteOptions{})
					if errors.Is(err, catalog.ErrReplaced) {
						turnedAway.Add(1)
					}
					return out, err
				})
				if err != nil {
					t.Error(err)
					return
				}
				writes.Add(1)
			}
		})
	}
	for n := range 20 {
		w.define([]string{v1beta1, v1}[n%2], false)
		for before := writes.Load(); writes.Load() < before+3 && !t.Failed(); {
			runtime.Gosched()
		}
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d writes, %d turned away", writes.Load(), turnedAway.Load())
	if v, ok := w.catalog.Serving(cronTabs); v != v1 || !ok {
		t.Errorf("serving %s, %v", v, ok)
	}
}

func TestBadDefinitionKeepsTheLastGoodOne(t *testing.T) {
	w := newWorld(t)
	good := w.at(v1, "").Resource
	crds := w.builtin("customresourcedefinitions", "", "crontabs.example.com")
	kv := w.raw(crds)
	for _, bad := range []string{"{", `{"spec":{}}`, strings.Replace(string(kv.Value), `"port":{"maxLength":5,"type":"string"}`, `"port":{"items":{"$ref":"x"},"type":"array"}`, 1)} {
		rev, err := w.store.Update(w.ctx(), crds.Resource.Key("", "crontabs.example.com"), []byte(bad), w.raw(crds).Revision, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.catalog.WaitApplied(w.ctx(), rev); err != nil {
			t.Fatal(err)
		}
		if now := w.catalog.Snapshot().Resource(cronTabs); bad != `{"spec":{}}` && now != good && now != nil {
			t.Errorf("%.20s: another form is served", bad)
		}
	}
	w.define(v1, false)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
}

func TestRewriter_CRD32(t *testing.T) {
	w := newWorld(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1"))
	kv := w.raw(w.at(v1, "one"))
	rewrite := func() *catalog.Resource {
		t.Helper()
		r, err := w.catalog.Resource(cronTabs)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before := rewrite()
	if _, changed, err := before.Rewrite(w.ctx(), kv); changed || err != nil {
		t.Errorf("at its version already: %v, %v", changed, err)
	}
	managed := strings.Replace(string(kv.Value), `"name":"one"`, `"managedFields":[{"apiVersion":"example.com/v0","manager":"m"},{"apiVersion":"example.com/v1","manager":"n"}],"name":"one"`, 1)
	if value, changed, err := before.Rewrite(w.ctx(), storage.KV{Key: kv.Key, Value: []byte(managed), Revision: kv.Revision}); !changed || err != nil || strings.Contains(string(value), "v0") || !strings.Contains(string(value), `"manager":"n"`) {
		t.Errorf("dead managers: %s, %v", value, err)
	}
	w.define(v1beta1, false)
	if _, _, err := before.Rewrite(w.ctx(), kv); err == nil {
		t.Error("a rewrite under a former definition")
	}
	value, changed, err := rewrite().Rewrite(w.ctx(), kv)
	if s := string(value); !changed || err != nil || !strings.Contains(s, `"apiVersion":"example.com/v1beta1"`) || !strings.Contains(s, `"hostPort":"h:1"`) || strings.Contains(s, "resourceVersion") {
		t.Errorf("got %s, %v", s, err)
	}
	if _, changed, err := rewrite().Rewrite(w.ctx(), storage.KV{Key: kv.Key, Value: value, Revision: kv.Revision}); changed || err != nil {
		t.Errorf("twice: %v, %v", changed, err)
	}
	if _, _, err := rewrite().Rewrite(w.ctx(), storage.KV{Key: kv.Key, Value: []byte("x"), Revision: 1}); err == nil {
		t.Error("an unreadable object was rewritten")
	}
}

// Who watches is told of what goes with its definition, and of nothing that comes after
// under that name.
func TestWatchersAreToldWhatGoesWithItsDefinition_WATCH02(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"one", "two"} {
		w.create(w.at(v1, ""), tab(v1, name, "h", "1"))
	}
	old := w.at(v1, "")
	watch := w.watch(old, internalversion.ListOptions{})
	w.define(v1, true)
	if watch.Ended() {
		t.Fatal("it ended before the objects went")
	}
	for _, name := range []string{"one", "two"} {
		w.must(w.Delete(w.ctx(), w.at(v1, name), deletion(), resource.WriteOptions{}))
	}
	kv, err := w.store.Get(w.ctx(), w.definition())
	if err == nil {
		_, err = w.store.Delete(w.ctx(), w.definition(), kv.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	<-watch.Replaced
	w.define(v1, false)
	w.create(w.at(v1, ""), tab(v1, "three", "h", "1"))
	w.read(w.at(v1, "three")) // until the cache has it
	told, _, err := watch.Next(w.ctx())
	if err != nil || len(told) != 2 || told[0].Type != "DELETED" || told[1].Type != "DELETED" {
		t.Errorf("told %v, %v", told, err)
	}
	if told, _, err = watch.Next(w.ctx()); err != nil || len(told) > 0 {
		t.Errorf("then told %v, %v", told, err)
	}
}
