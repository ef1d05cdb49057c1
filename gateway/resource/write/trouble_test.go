package write

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// Long texts are cut where they are longer than they may be, between characters.
func TestTextsAreCut(t *testing.T) {
	for in, want := range map[string]string{"": "", "abc": "abc", "abcd": "abc...", "abé": "ab...", "é": "é"} {
		if got := atMost(3, []byte(in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	w := newWorld(t)
	at := w.at(v1, "")
	body := func(n int) []byte {
		var unknown []string
		for i := range n {
			unknown = append(unknown, fmt.Sprintf(`"u%03d":1`, i))
		}
		return []byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"one"},` + strings.Join(unknown, ",") + `}`)
	}
	for n, want := range map[int]int{1: 1, resource.MaxProblems - 1: resource.MaxProblems - 1, resource.MaxProblems: resource.MaxProblems, resource.MaxProblems + 1: resource.MaxProblems} {
		warned := 0
		_, err := w.Create(w.ctx(), at, body(n), resource.WriteOptions{DryRun: true, FieldValidation: "Warn", Warn: func(string) { warned++ }})
		if err != nil || warned != want {
			t.Errorf("%d unknown fields: %d warnings, %v", n, warned, err)
		}
	}
}

// racing is a store where somebody else writes just before a write.
type racing struct {
	*storagetest.Memory
	first func(key string) // once
}

func (r *racing) race(key string) {
	if f := r.first; f != nil {
		r.first = nil
		f(key)
	}
}

func (r *racing) Create(ctx context.Context, key string, value []byte, ttl time.Duration) (int64, error) {
	r.race(key)
	return r.Memory.Create(ctx, key, value, ttl)
}

func (r *racing) Update(ctx context.Context, key string, value []byte, rev int64, ttl time.Duration) (int64, error) {
	r.race(key)
	return r.Memory.Update(ctx, key, value, rev, ttl)
}

// A PUT that may create is what the store is ready for at the moment of the
// write, whatever it was just before.
func TestPutsThatMayCreateMeetOthers_VERB03(t *testing.T) {
	store := &racing{Memory: storagetest.NewMemory()}
	w := worldOver(t, store)
	one := w.builtin("events", "default", "one")
	body := func(reason string) []byte {
		return []byte(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"one","namespace":"default"},"involvedObject":{"namespace":"default"},"reason":"` + reason + `"}`)
	}
	store.first = func(key string) {
		if _, err := store.Memory.Create(w.ctx(), key, []byte(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"one","namespace":"default","uid":"theirs"},"involvedObject":{"namespace":"default"}}`), 0); err != nil {
			t.Error(err)
		}
	}
	out, err := w.Update(w.ctx(), one, body("Mine"), resource.WriteOptions{})
	if u := w.must(out, err); out.Created || u.GetUID() != "theirs" || u.Object["reason"] != "Mine" {
		t.Errorf("over one that was created meanwhile: created %t, %v", out.Created, u.Object)
	}
	store.first = func(key string) {
		kv, err := store.Get(w.ctx(), key)
		if err == nil {
			_, err = store.Memory.Delete(w.ctx(), key, kv.Revision)
		}
		if err != nil {
			t.Error(err)
		}
	}
	out, err = w.Update(w.ctx(), one, body("Again"), resource.WriteOptions{})
	if u := w.must(out, err); !out.Created || u.GetUID() == "theirs" || u.Object["reason"] != "Again" {
		t.Errorf("over one that was deleted meanwhile: created %t, %v", out.Created, u.Object)
	}
	// One that has to exist is not created, and one that must not is not replaced.
	maps := w.builtin("configmaps", "default", "m")
	w.create(w.builtin("configmaps", "default", ""), configMap("m", "1"))
	store.first = func(key string) {
		kv := w.raw(maps)
		if _, err := store.Memory.Delete(w.ctx(), key, kv.Revision); err != nil {
			t.Error(err)
		}
	}
	_, err = w.Update(w.ctx(), maps, []byte(configMap("m", "2")), resource.WriteOptions{})
	refused(t, err, 404, "NotFound", "")
	store.first = func(key string) {
		if _, err := store.Memory.Create(w.ctx(), key, []byte(configMap("m", "3")), 0); err != nil {
			t.Error(err)
		}
	}
	_, err = w.Create(w.ctx(), w.builtin("configmaps", "default", ""), []byte(configMap("m", "4")), resource.WriteOptions{})
	refused(t, err, 409, "AlreadyExists", "")
}

// A deletion of all that one object is in the way of says so.
func TestDeleteCollectionTellsOfAFailure_VERB04(t *testing.T) {
	w := newWorld(t)
	w.put("one", tab(v1, "one", "h", "1", `"namespace":"default"`, `"uid":"u"`))
	o := deletion()
	o.Preconditions = metav1.NewUIDPreconditions("other")
	_, err := w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{}, o, resource.WriteOptions{}, encoding.At(v1))
	refused(t, err, 409, "Conflict", "the UID in the precondition (other) does not match")
	w.raw(w.at(v1, "one")) // still there
}

// As many objects of a collection are deleted at a time as there are workers, who warn one
// after the other; after a failure no further one is begun.
func TestDeleteCollectionHasWorkers_VERB04(t *testing.T) {
	w, l := watched(t)
	for i := range 6 {
		w.create(w.at(v1, ""), tab(v1, fmt.Sprint("tab-", i), "h", "1"))
	}
	w.o.DeleteWorkers = 3
	var asked atomic.Int64
	third := make(chan struct{})
	l.validate = func(ctx context.Context, a admission.Attributes) error {
		a.Warn("one")
		if asked.Add(1) == 3 {
			close(third)
		}
		select {
		case <-third:
			return apierrors.NewBadRequest("not now")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var told []string
	o := resource.WriteOptions{Warn: func(text string) { told = append(told, text) }}
	_, err := w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{}, deletion(), o, encoding.At(v1))
	refused(t, err, 400, "BadRequest", "not now")
	if n := asked.Load(); n != 3 || len(told) != 3 {
		t.Errorf("%d were tried, told of %q", n, told)
	}
	// A plugin that panics fails the request alone.
	l.validate = func(context.Context, admission.Attributes) error { panic("oops") }
	_, err = w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{}, deletion(), resource.WriteOptions{}, encoding.At(v1))
	refused(t, err, 500, "InternalError", "oops")
	l.validate = nil
	if _, err := w.deleteAll(w.at(v1, ""), &internalversion.ListOptions{}, deletion(), resource.WriteOptions{}, encoding.At(v1)); err != nil {
		t.Fatal(err)
	}
	if left, err := w.List(w.ctx(), w.at(v1, ""), &internalversion.ListOptions{}); err != nil || len(left.Entries) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
