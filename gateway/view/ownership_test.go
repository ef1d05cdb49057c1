package view

import (
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/wire"
	"github.com/wasmgate/wasmgate/storage"
)

// Who owns an object is read the same of each stored form, and is not remembered.
func TestWhoOwnsWhatIsStored(t *testing.T) {
	s := newShelf(t)
	r := s.builtin("", "configmaps")
	deleted := metav1.NewTime(time.Unix(1700000000, 0))
	meta := metav1.ObjectMeta{UID: "u", ResourceVersion: "7", Finalizers: []string{"a.b/c"}, DeletionTimestamp: &deleted,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "o"}}}
	const (
		owned = `"uid":"u","finalizers":["a.b/c"],"deletionTimestamp":"2023-11-14T22:13:20Z","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"o"}]`
		head  = `{"apiVersion":"v1","kind":"ConfigMap","metadata":`
	)
	stored := func(text string) *Entry { return NewEntry(storage.KV{Value: []byte(text), Revision: 7}) }
	odd := append([]byte("\x12\x06\x0a\x01k\x12\x01v"), "\x0a\x08\x0a\x03odd\x2a\x01u"...) // data before metadata
	for name, c := range map[string]struct {
		e    *Entry
		want metav1.ObjectMeta
	}{
		"JSON":                  {stored(head + `{` + owned + `}}`), meta},
		"JSON that says none":   {stored(head + `{"name":"n"}}`), metav1.ObjectMeta{ResourceVersion: "7"}},
		"a message":             {foreign(t, "v1", "ConfigMap", &corev1.ConfigMap{ObjectMeta: meta}, 7), meta},
		"a message of no order": {stored(string(wire.AppendEnvelope(nil, "v1", "ConfigMap", odd))), metav1.ObjectMeta{UID: "u", ResourceVersion: "7"}},
	} {
		before := c.e.derived()
		got, err := r.Ownership(c.e)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.DeletionTimestamp != nil {
			got.DeletionTimestamp.Time = got.DeletionTimestamp.UTC()
			c.want.DeletionTimestamp = &metav1.Time{Time: deleted.UTC()}
		}
		if got.UID != c.want.UID || got.ResourceVersion != "7" || !reflect.DeepEqual(got.OwnerReferences, c.want.OwnerReferences) ||
			!reflect.DeepEqual(got.Finalizers, c.want.Finalizers) || !reflect.DeepEqual(got.DeletionTimestamp, c.want.DeletionTimestamp) || c.e.derived() != before {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, text := range map[string]string{
		"no object": `{`, "no finalizers": head + `{"finalizers":7}}`, "no owners": head + `{"ownerReferences":[7]}}`, "no time": head + `{"deletionTimestamp":"x"}}`,
		"no envelope": "k8s\x00\x12\x05a", "cut short": string(wire.AppendEnvelope(nil, "v1", "ConfigMap", []byte("\x0a\x05x"))),
		"no metadata": string(wire.AppendEnvelope(nil, "v1", "ConfigMap", []byte("\x0a\x02\x0a\x05"))),
	} {
		if got, err := r.Ownership(stored(text)); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "at revision 7 cannot be read") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// asked is what is kept for a while only, and when somebody asked for it last.
type asked struct {
	time.Time
	size int
}

func (a asked) Size() int                  { return a.size }
func (a asked) Passing() (time.Time, bool) { return a.Time, true }

// What is kept for a while is given up some time after somebody asked for it last; what
// else is kept stays.
func TestWhatIsKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(0, nil)
		start := time.Now()
		all := []*Entry{NewEntry(storage.KV{}), NewEntry(storage.KV{}), NewEntry(storage.KV{})}
		all[0].Keep(func([]Kept) []Kept { return []Kept{asked{start, 100}, lasting(30), asked{start.Add(KeepFor), 10}} })
		all[1].Keep(func([]Kept) []Kept { return []Kept{lasting(5)} })
		m.Grew(145)
		var visits atomic.Int32
		go m.Run(t.Context(), func(fn func(*Entry)) { visits.Add(1); visit(all)(fn) })
		at := func(since time.Duration, seen int32, held int64) {
			t.Helper()
			<-time.After(time.Until(start.Add(since)))
			synctest.Wait()
			if visits.Load() != seen || m.Held() != held || derived(all) != held {
				t.Errorf("after %v: visited %d times, %d held, %d are there; want %d times and %d", since, visits.Load(), m.Held(), derived(all), seen, held)
			}
		}
		at(3*KeepFor/4, 0, 145) // nobody said that something passes
		m.Passing()
		at(KeepFor+time.Second, 1, 145) // it was asked for just so long ago
		at(KeepFor*2-time.Second, 2, 45)
		at(KeepFor*2+time.Second, 3, 45)
		at(KeepFor*3, 4, 35)
		at(KeepFor*9, 4, 35) // nothing is left that passes
	})
	var none *Memory
	none.Passing()
}

// partly is a shape that tells what it is given.
type partly struct{ crd.Shape }

func (partly) FromPart(obj map[string]any) error { obj["part"] = true; return nil }

// A part of an object keeps what the schema of a whole would not let it have.
func TestPartsAreConverted(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	convert := func() map[string]any {
		t.Helper()
		out, err := r.ConvertPart(t.Context(), parse(t, `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"one"},"host":"h"}`), v1beta1)
		if err != nil || out["apiVersion"] != "example.com/v1beta1" {
			t.Fatalf("%v, %v", out, err)
		}
		return out
	}
	v := r.Def.Version(v1beta1)
	v.Shape, v.Unchanged = partly{v.Shape}, nil
	if out := convert(); out["part"] != true {
		t.Errorf("it is converted as a whole: %v", out)
	}
	v.Shape = odd{v.Shape.(partly).Shape} // which has no parts
	if _, err := r.ConvertPart(t.Context(), parse(t, `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"one"}}`), v1beta1); err == nil || !strings.Contains(err.Error(), "it is odd") {
		t.Errorf("a shape without parts: %v", err)
	}
}

// What cannot be read is not readable, and nothing is made of it.
func TestWhatIsReadable(t *testing.T) {
	s := newShelf(t)
	r := s.cronTabs()
	if err := r.Readable(entry(v1, "one", 1)); err != nil {
		t.Error(err)
	}
	for name, kv := range map[string]storage.KV{"no JSON": {Value: []byte("x"), Revision: 7}, "sealed": {Value: []byte("{}"), Revision: 7, Keeping: storage.Unreadable}} {
		err := r.Readable(NewEntry(kv))
		if !apierrors.IsInternalError(err) || strings.Contains(err.Error(), "encrypted") != (name == "sealed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
