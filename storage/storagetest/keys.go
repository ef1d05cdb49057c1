package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wasmgate/wasmgate/storage"
)

func (k *kit) createGet() {
	rev := k.create("a", "one")
	kv, err := k.Get(k.ctx, k.prefix+"a")
	if err != nil {
		k.Fatal(err)
	}
	if kv.Key != k.prefix+"a" || string(kv.Value) != "one" || kv.Revision != rev {
		k.Fatalf("got %s=%q at %d, want one at %d", kv.Key, kv.Value, kv.Revision, rev)
	}
	if next := k.update("a", "two", rev); next <= rev {
		k.Fatalf("update's revision %d does not follow %d", next, rev)
	}
}

func (k *kit) createExists() {
	rev := k.create("a", "one")
	_, err := k.Create(k.ctx, k.prefix+"a", []byte("two"), 0)
	k.wantKind(err, storage.Exists)
	k.wantCurrent(err, "one", rev)
}

func (k *kit) wantCurrent(err error, value string, rev int64) {
	k.Helper()
	var e *storage.Error
	if !errors.As(err, &e) || e.Current == nil {
		k.Fatalf("error %v does not carry the current key", err)
	}
	if string(e.Current.Value) != value || e.Current.Revision != rev {
		k.Fatalf("error carries %q at %d, want %q at %d", e.Current.Value, e.Current.Revision, value, rev)
	}
}

func (k *kit) compareAndSet() {
	first := k.create("a", "one")
	second := k.update("a", "two", first)
	for _, wrong := range []int64{first, second + 1000, 0, -1} {
		_, err := k.Update(k.ctx, k.prefix+"a", []byte("x"), wrong, 0)
		k.wantKind(err, storage.Conflict)
		k.wantCurrent(err, "two", second)
		_, err = k.Delete(k.ctx, k.prefix+"a", wrong)
		k.wantKind(err, storage.Conflict)
		k.wantCurrent(err, "two", second)
	}
	if gone := k.remove("a", second); gone <= second {
		k.Fatalf("delete's revision %d does not follow %d", gone, second)
	}
	_, err := k.Get(k.ctx, k.prefix+"a")
	k.wantKind(err, storage.NotFound)
	k.create("a", "again")
}

// wantChanged checks that all three writes of w fail because of guard, whose
// present state is value at rev, or nothing if rev is 0.
func (k *kit) wantChanged(w storage.Writer, guard, value string, rev, a int64) {
	k.Helper()
	_, create := w.Create(k.ctx, k.prefix+"new", []byte("x"), 0)
	_, update := w.Update(k.ctx, k.prefix+"a", []byte("x"), a, 0)
	_, remove := w.Delete(k.ctx, k.prefix+"a", a)
	for _, err := range []error{create, update, remove} {
		k.wantKind(err, storage.Changed)
		var e *storage.Error
		if errors.As(err, &e); e.Key != k.prefix+guard {
			k.Fatalf("error %v is not about the guard", err)
		}
		if rev == 0 && e.Current != nil {
			k.Fatalf("error carries a guard that does not exist: %v", e.Current)
		}
		if rev != 0 {
			k.wantCurrent(err, value, rev)
		}
	}
	if kv, err := k.Get(k.ctx, k.prefix+"a"); err != nil || kv.Revision != a {
		k.Fatalf("a refused write changed the key: %v, %v", kv, err)
	}
}

func (k *kit) guarded() {
	a, g := k.create("a", "one"), k.create("guard", "1")
	w := k.While(k.prefix+"guard", g)
	a, err := w.Update(k.ctx, k.prefix+"a", []byte("two"), a, 0)
	if err != nil {
		k.Fatal(err)
	}
	b, err := w.Create(k.ctx, k.prefix+"b", []byte("one"), 0)
	if err != nil {
		k.Fatal(err)
	}
	if _, err := w.Delete(k.ctx, k.prefix+"b", b); err != nil {
		k.Fatal(err)
	}
	// While the guard holds, the key decides.
	_, err = w.Create(k.ctx, k.prefix+"a", []byte("x"), 0)
	k.wantKind(err, storage.Exists)
	k.wantCurrent(err, "two", a)
	_, err = w.Update(k.ctx, k.prefix+"a", []byte("x"), a+1000, 0)
	k.wantKind(err, storage.Conflict)
	k.wantCurrent(err, "two", a)
	_, err = w.Update(k.ctx, k.prefix+"b", []byte("x"), b, 0)
	k.wantKind(err, storage.NotFound)

	// A second guard counts besides the first, and changes nothing for it.
	h := k.create("other", "1")
	both := w.While(k.prefix+"other", h)
	if a, err = both.Update(k.ctx, k.prefix+"a", []byte("two"), a, 0); err != nil {
		k.Fatal(err)
	}
	h = k.update("other", "2", h)
	k.wantChanged(both, "other", "2", h, a)
	if a, err = w.Update(k.ctx, k.prefix+"a", []byte("two"), a, 0); err != nil {
		k.Fatal(err)
	}

	next := k.update("guard", "2", g)
	k.wantChanged(w, "guard", "2", next, a)
	k.wantChanged(w.While(k.prefix+"other", h), "guard", "2", next, a)
	k.wantChanged(k.While(k.prefix+"guard", next+1000), "guard", "2", next, a)
	k.remove("guard", next)
	k.wantChanged(k.While(k.prefix+"guard", next), "guard", "", 0, a)
	// Another key of that name is another guard.
	if again := k.create("guard", "2"); again == next {
		k.Fatal("a revision was given out twice")
	}
	k.wantKind(second(k.While(k.prefix+"guard", next).Create(k.ctx, k.prefix+"c", []byte("x"), 0)), storage.Changed)
}

func (k *kit) along() {
	a, b := k.create("a", "one"), k.create("b", "1")
	w := k.Along(k.prefix+"b", []byte("2"), b)
	n, err := w.Update(k.ctx, k.prefix+"a", []byte("two"), a, 0)
	if err != nil {
		k.Fatal(err)
	}
	k.wantBoth(n, "two", "2")
	// Both or none, whichever is behind.
	k.wantChanged(w, "b", "2", n, n)
	_, err = k.Along(k.prefix+"b", []byte("3"), n).Update(k.ctx, k.prefix+"a", []byte("three"), a, 0)
	k.wantKind(err, storage.Conflict)
	k.wantBoth(n, "two", "2")
	// Several keys, of which one is only compared.
	g, c := k.create("guard", "1"), k.create("c", "1")
	m, err := k.Along(k.prefix+"b", []byte("3"), n).While(k.prefix+"guard", g).Along(k.prefix+"c", []byte("2"), c).Delete(k.ctx, k.prefix+"a", n)
	if err != nil {
		k.Fatal(err)
	}
	for key, want := range map[string]storage.KV{"b": {Value: []byte("3"), Revision: m}, "c": {Value: []byte("2"), Revision: m}, "guard": {Value: []byte("1"), Revision: g}} {
		if kv, err := k.Get(k.ctx, k.prefix+key); err != nil || string(kv.Value) != string(want.Value) || kv.Revision != want.Revision {
			k.Fatalf("%s is %v, %v", key, kv, err)
		}
	}
	if _, err = k.Along(k.prefix+"b", []byte("4"), m).Create(k.ctx, k.prefix+"d", []byte("x"), 0); err != nil {
		k.Fatal(err)
	}
}

// wantBoth wants the keys a and b written at one revision.
func (k *kit) wantBoth(revision int64, a, b string) {
	for key, want := range map[string]string{"a": a, "b": b} {
		if kv, err := k.Get(k.ctx, k.prefix+key); err != nil || string(kv.Value) != want || kv.Revision != revision {
			k.Fatalf("%s is %v, %v; want %s at %d", key, kv, err, want, revision)
		}
	}
}

func second(_ int64, err error) error { return err }

func (k *kit) missing() {
	_, err := k.Get(k.ctx, k.prefix+"none")
	k.wantKind(err, storage.NotFound)
	for _, rev := range []int64{0, 1, 7} {
		_, err = k.Update(k.ctx, k.prefix+"none", []byte("x"), rev, 0)
		k.wantKind(err, storage.NotFound)
		_, err = k.Delete(k.ctx, k.prefix+"none", rev)
		k.wantKind(err, storage.NotFound)
	}
	page, err := k.Range(k.ctx, storage.Range{Prefix: k.prefix})
	if err != nil || len(page.KVs) != 0 || page.More || page.Count != 0 {
		k.Fatalf("range of nothing: %+v, %v", page, err)
	}
}

func (k *kit) oneWinner() {
	rev := k.create("a", "0")
	var wins, losses atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			_, err := k.Update(k.ctx, k.prefix+"a", fmt.Appendf(nil, "writer %d", i), rev, 0)
			switch {
			case err == nil:
				wins.Add(1)
			case storage.KindOf(err) == storage.Conflict:
				losses.Add(1)
			}
		})
	}
	wg.Wait()
	if wins.Load() != 1 || losses.Load() != 15 {
		k.Fatalf("%d writers won and %d lost, want 1 and 15", wins.Load(), losses.Load())
	}
}

func (k *kit) ttl() {
	const ttl = 2 * time.Second
	start := time.Now()
	key := k.prefix + "short"
	created, err := k.Create(k.ctx, key, []byte("x"), ttl)
	if err != nil {
		k.Fatal(err)
	}
	kept := k.prefix + "kept"
	for {
		made := time.Now()
		rev, err := k.Create(k.ctx, kept, []byte("x"), ttl)
		if err != nil {
			k.Fatal(err)
		}
		if _, err = k.Update(k.ctx, kept, []byte("y"), rev, 0); err == nil {
			break
		}
		if time.Since(made) < ttl { // else it was too late
			k.Fatal(err)
		}
	}
	batches, _ := k.Watch(k.ctx, key, created)
	for b := range batches {
		for _, ev := range b.Events {
			if !ev.Deleted {
				continue
			}
			if lived := time.Since(start); lived < ttl {
				k.Fatalf("the key lived %v, want at least %v", lived, ttl)
			}
			if _, err := k.Get(k.ctx, kept); err != nil {
				k.Fatalf("a ttl of zero did not remove the earlier one: %v", err)
			}
			return
		}
	}
	k.Fatal("the key never expired")
}

func (k *kit) tooLarge() {
	_, err := k.Create(k.ctx, k.prefix+"big", []byte(strings.Repeat("x", 4<<20)), 0)
	k.wantKind(err, storage.TooLarge)
	_, err = k.Get(k.ctx, k.prefix+"big")
	k.wantKind(err, storage.NotFound)
}

func (k *kit) canceled() {
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	_, err := k.Get(ctx, k.prefix+"a")
	k.wantKind(err, storage.Unavailable)
	if !errors.Is(err, context.Canceled) {
		k.Fatalf("error %v does not say that the context ended", err)
	}
}
