package leftovers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

var tabs = schema.GroupResource{Group: "example.com", Resource: "crontabs"}

// stored is a store with a value under each key below /registry/.
func stored(t *testing.T, values map[string]string) (*storagetest.Memory, Objects) {
	t.Helper()
	m := storagetest.NewMemory()
	for key, value := range values {
		if _, err := m.Create(t.Context(), "/registry/"+key, []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	return m, Objects{Store: m, Prefix: "/registry/"}
}

func remove(o Objects, namespace, name string, uid types.UID) error {
	return o.Delete(context.Background(), tabs, namespace, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
}

func TestListMetadata(t *testing.T) {
	_, o := stored(t, map[string]string{
		"example.com/crontabs/a/one":    `{"metadata":{"name":"other","namespace":"elsewhere","uid":"u1","finalizers":["f"]},"spec":{"x":1}}`,
		"example.com/crontabs/b/two":    `not JSON`,
		"example.com/crontabs/three":    `{"metadata":{"uid":"u3"}}`,
		"example.com/crontabsx/a/x":     `{"metadata":{"uid":"no"}}`,
		"example.com/crontab/a/x":       `{"metadata":{"uid":"no"}}`,
		"other.example.com/crontabs/a/": `{"metadata":{"uid":"no"}}`,
	})
	for namespace, want := range map[string][]string{
		"": {"a/one u1 [f]", "b/two  []", "/three u3 []"}, "a": {"a/one u1 [f]"}, "c": nil, "three": nil,
	} {
		items, err := o.ListMetadata(t.Context(), tabs, namespace)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range items {
			got = append(got, fmt.Sprintf("%s/%s %s %v", m.Namespace, m.Name, m.UID, m.Finalizers))
		}
		if !slices.Equal(got, want) {
			t.Errorf("in %q: %q, want %q", namespace, got, want)
		}
	}
}

// A resource that is not named would be everything there is.
func TestListMetadata_needsAResource(t *testing.T) {
	_, o := stored(t, nil)
	for _, gr := range []schema.GroupResource{{}, {Group: "example.com"}, {Resource: "configmaps"}} {
		if _, err := o.ListMetadata(t.Context(), gr, ""); err == nil {
			t.Errorf("%q is listed", gr)
		}
	}
}

func TestListMetadata_manyPages(t *testing.T) {
	values := map[string]string{}
	for i := range 1200 {
		values[fmt.Sprintf("example.com/crontabs/a/%04d", i)] = `{"metadata":{}}`
	}
	m, o := stored(t, values)
	if items, err := o.ListMetadata(t.Context(), tabs, ""); err != nil || len(items) != 1200 {
		t.Errorf("%d, %v", len(items), err)
	}
	m.Down(errors.New("the disk is on fire"))
	if _, err := o.ListMetadata(t.Context(), tabs, ""); storage.KindOf(err) != storage.Unavailable {
		t.Errorf("a store that is down: %v", err)
	}
}

// changing is a store whose last object goes once the first page was read.
type changing struct {
	*storagetest.Memory
	last string
}

func (c *changing) Range(ctx context.Context, r storage.Range) (storage.Page, error) {
	page, err := c.Memory.Range(ctx, r)
	if key := c.last; err == nil && key != "" {
		c.last = ""
		kv, err := c.Get(ctx, key)
		if err == nil {
			_, err = c.Delete(ctx, key, kv.Revision)
		}
		if err != nil {
			return storage.Page{}, err
		}
	}
	return page, err
}

// All pages are of one state.
func TestListMetadata_isOneState(t *testing.T) {
	values := map[string]string{}
	for i := range 1200 {
		values[fmt.Sprintf("example.com/crontabs/a/%04d", i)] = `{"metadata":{}}`
	}
	m, o := stored(t, values)
	o.Store = &changing{m, "/registry/example.com/crontabs/a/1199"}
	for _, want := range []int{1200, 1199} {
		if items, err := o.ListMetadata(t.Context(), tabs, ""); err != nil || len(items) != want {
			t.Errorf("%d, %v; want %d", len(items), err, want)
		}
	}
}

func TestDelete(t *testing.T) {
	m, o := stored(t, map[string]string{
		"example.com/crontabs/a/free": `{"metadata":{"uid":"u1"}}`,
		"example.com/crontabs/a/bad":  `{`,
		"example.com/crontabs/whole":  `{"metadata":{"uid":"u2"}}`,
		"example.com/crontabs/other":  `{"metadata":{"uid":"u4"}}`,
	})
	for _, c := range []struct {
		namespace, name string
		uid             types.UID
	}{{"a", "free", "u1"}, {"a", "bad", ""}, {"", "whole", "u2"}} {
		if err := remove(o, c.namespace, c.name, c.uid); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := m.Get(t.Context(), o.key(tabs, c.namespace, c.name)); storage.KindOf(err) != storage.NotFound {
			t.Errorf("%s is still there: %v", c.name, err)
		}
		if err := remove(o, c.namespace, c.name, c.uid); !apierrors.IsNotFound(err) {
			t.Errorf("%s twice: %v", c.name, err)
		}
	}
	if err := remove(o, "", "other", "u5"); !apierrors.IsConflict(err) {
		t.Errorf("another object of that name: %v", err)
	}
	m.Down(errors.New("the disk is on fire"))
	if err := remove(o, "", "other", "u4"); !apierrors.IsInternalError(err) {
		t.Errorf("a store that is down: %v", err)
	}
	m.Down(nil)
	if err := o.Delete(t.Context(), tabs, "", "other", metav1.DeleteOptions{}); err != nil {
		t.Errorf("without a precondition: %v", err)
	}
}

// An object with finalizers is marked once, and nothing else of it changes.
func TestDelete_honoursFinalizers_DEL02(t *testing.T) {
	const held = `{"apiVersion":"example.com/v9","metadata":{"uid":"u1","generation":%d,"finalizers":["f"],"annotations":{"a":"<&>"}},"spec":{"n":12345678901234567890,"f":1.0}}`
	for generation, want := range map[int]string{0: "0", 4: "5"} {
		m, o := stored(t, map[string]string{"example.com/crontabs/a/held": fmt.Sprintf(held, generation)})
		before := time.Now().Add(-time.Second)
		if err := remove(o, "a", "held", "u1"); err != nil {
			t.Fatal(err)
		}
		kv, err := m.Get(t.Context(), o.key(tabs, "a", "held"))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Metadata map[string]json.RawMessage
			Spec     json.RawMessage
		}
		if err := json.Unmarshal(kv.Value, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Spec) != `{"n":12345678901234567890,"f":1.0}` || string(got.Metadata["annotations"]) != `{"a":"<&>"}` ||
			string(got.Metadata["generation"]) != want || string(got.Metadata["deletionGracePeriodSeconds"]) != "0" {
			t.Errorf("%s", kv.Value)
		}
		var at metav1.Time
		if err := json.Unmarshal(got.Metadata["deletionTimestamp"], &at); err != nil || at.Before(&metav1.Time{Time: before}) {
			t.Errorf("deleted at %s: %v", at, err)
		}
		if err := remove(o, "a", "held", "u1"); err != nil {
			t.Error(err)
		}
		if again, err := m.Get(t.Context(), kv.Key); err != nil || again.Revision != kv.Revision {
			t.Errorf("marked twice: %v", err)
		}
	}
}

// racing is a store where somebody else writes before every deletion.
type racing struct {
	*storagetest.Memory
	writes int
}

func (r *racing) Delete(ctx context.Context, key string, rev int64) (int64, error) {
	if r.writes > 0 {
		r.writes--
		if _, err := r.Update(ctx, key, []byte(`{"metadata":{"uid":"u1"},"spec":1}`), rev, 0); err != nil {
			return 0, err
		}
	}
	return r.Memory.Delete(ctx, key, rev)
}

func TestDelete_triesAgainAgainstOtherWriters(t *testing.T) {
	for writes, gone := range map[int]bool{3: true, attempts - 1: true, attempts: false} {
		m, o := stored(t, map[string]string{"example.com/crontabs/a/one": `{"metadata":{"uid":"u1"}}`})
		o.Store = &racing{m, writes}
		err := remove(o, "a", "one", "u1")
		if gone != (err == nil) || !gone && !apierrors.IsConflict(err) {
			t.Errorf("%d other writes: %v", writes, err)
		}
	}
}

// What another server stored as CBOR has finalizers too.
func TestObjectsStoredAsCBOR_DEL02(t *testing.T) {
	encoded := func(tree map[string]any) string {
		data, err := direct.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		return "\xd9\xd9\xf7" + string(data)
	}
	object := func(meta map[string]any) string {
		return encoded(map[string]any{"apiVersion": "example.com/v1", "kind": "CronTab", "metadata": meta})
	}
	m, o := stored(t, map[string]string{
		"example.com/crontabs/a/held": object(map[string]any{"name": "held", "uid": "u1", "finalizers": []any{"example.com/f"}}),
		"example.com/crontabs/a/free": object(map[string]any{"name": "free", "uid": "u2"}),
	})
	items, err := o.ListMetadata(t.Context(), tabs, "")
	if err != nil || len(items) != 2 || items[0].UID != "u2" || len(items[1].Finalizers) != 1 {
		t.Fatalf("got %v, %v", items, err)
	}
	for _, c := range []struct {
		name string
		uid  types.UID
		kind storage.Kind
	}{{"held", "u1", 0}, {"free", "u2", storage.NotFound}} {
		if err := remove(o, "a", c.name, c.uid); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		kv, err := m.Get(t.Context(), o.key(tabs, "a", c.name))
		if storage.KindOf(err) != c.kind || c.kind == 0 && !bytes.Contains(kv.Value, []byte(`"deletionTimestamp"`)) {
			t.Errorf("%s: %s, %v", c.name, kv.Value, err)
		}
	}
}

// sealing is a store of which nothing can be decrypted.
type sealing struct{ storage.Store }

func (s sealing) Get(ctx context.Context, key string) (storage.KV, error) {
	kv, err := s.Store.Get(ctx, key)
	kv.Value, kv.Keeping = nil, storage.Unreadable
	return kv, err
}

// What cannot be decrypted may have finalizers, and is not deleted.
func TestDeleteWhatCannotBeDecrypted(t *testing.T) {
	m, o := stored(t, map[string]string{"example.com/crontabs/a/one": `{"metadata":{"finalizers":["f"]}}`})
	o.Store = sealing{m}
	if err := o.Delete(t.Context(), tabs, "a", "one", metav1.DeleteOptions{}); !apierrors.IsInternalError(err) {
		t.Errorf("it says %v", err)
	}
	if _, err := m.Get(t.Context(), "/registry/example.com/crontabs/a/one"); err != nil {
		t.Error(err)
	}
}
