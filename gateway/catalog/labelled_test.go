package catalog

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/gateway/view"
	"github.com/wasmgate/wasmgate/storage"
	"github.com/wasmgate/wasmgate/storage/watchcache"
)

// configMaps are so many with labels: all of app a or b in turn, each of its own n, and every
// tenth rare.
func (s *shelf) configMaps(from, to int) *Resource {
	s.t.Helper()
	r, _ := s.Snapshot().Find("", "v1", "configmaps")
	var rev int64
	for i := from; i < to; i++ {
		rare := ""
		if i%10 == 0 {
			rare = `,"rare":"yes"`
		}
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%04d","namespace":"default","labels":{"app":%q,"n":"%d"%s}}}`, i, string("ab"[i%2]), i, rare)
		var err error
		if rev, err = s.store.Create(s.ctx(), r.Key("default", fmt.Sprintf("c%04d", i)), []byte(body), 0); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := s.Cache().Wait(s.ctx(), rev); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func selector(t *testing.T, text string) labels.Selector {
	t.Helper()
	out, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Among many objects those of a label are found, by the label that has the fewest of them.
func TestLabelled(t *testing.T) {
	s := newShelf(t)
	r := s.configMaps(0, fewObjects-1)
	if _, ok := r.Labelled(r.bucket.Snapshot(), "default/", selector(t, "n=7")); ok {
		t.Error("an index is made for few objects")
	}
	s.configMaps(fewObjects-1, fewObjects)
	for text, want := range map[string]int{
		"n=7": 1, "n in (7,8)": 2, "n==7,app=b": 1, "app=b,n=7": 1, "rare=yes": fewObjects / 10, "rare=yes,n=10": 1, "n=10,rare=yes": 1, "n=none": 0, "app": -1, "n!=7": -1, "": -1,
	} {
		keys, ok := r.Labelled(r.bucket.Snapshot(), "default/", selector(t, text))
		if ok != (want >= 0) || ok && len(keys) != want || !slices.IsSorted(keys) {
			t.Errorf("%q: %v, %d keys, want %d", text, ok, len(keys), want)
		}
	}
	if _, ok := r.Labelled(r.bucket.Snapshot(), "default/", nil); ok {
		t.Error("without a selector objects are found")
	}
	if _, ok := r.Labelled(r.bucket.Snapshot(), "other/", selector(t, "n=7")); ok {
		t.Error("where there is nothing it is found")
	}
	// Labels that are named again keep their index, the others lose it.
	for i := range maxIndexes + 2 {
		kept := r.index("app")
		if r.index(fmt.Sprint("label", i)); r.index("app") != kept || len(r.labelled.all) > maxIndexes {
			t.Errorf("after %d labels: %d indexes", i, len(r.labelled.all))
		}
	}
	first := r.index("label0")
	if r.index("label0") != first || r.index("other") == first {
		t.Error("indexes are not those of their labels")
	}
}

// A label of which few values are wanted is the narrowest.
func TestNarrowest(t *testing.T) {
	for text, want := range map[string][]string{
		"": {""}, "a": {""}, "a!=b": {""}, "a=b": {"a", "b"}, "a in (x,y),b=z": {"b", "z"}, "b=z,a in (x,y)": {"b", "z"}, "a in (x,y),c notin (z)": {"a", "x", "y"}, "a=x,b=y": {"a", "x"},
	} {
		label, values := Narrowest(selector(t, text))
		slices.Sort(values)
		if got := append([]string{label}, values...); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if label, _ := Narrowest(nil); label != "" {
		t.Errorf("of no selector %q", label)
	}
}

// An event is told to who looks for what the object was or is; labels count only while
// somebody follows one.
func TestInterestsOfEvents(t *testing.T) {
	s := newShelf(t)
	r, _ := s.Snapshot().Find("", "v1", "configmaps")
	entry := func(text string) *view.Entry {
		return view.NewEntry(storage.KV{Key: "k", Revision: 1, Value: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"ns","labels":` + text + `}}`)})
	}
	was, is, same, bad := entry(`{"a":"1","b":"2"}`), entry(`{"a":"3"}`), entry(`{"a":"1","b":"2"}`), view.NewEntry(storage.KV{Key: "k", Revision: 1, Value: []byte("x")})
	name, space, both := Interest{Name: "c"}, Interest{Namespace: "ns"}, Interest{Namespace: "ns", Name: "c"}
	of := func(namespace, label, value string) Interest {
		return Interest{Namespace: namespace, Label: label, Value: value}
	}
	for text, c := range map[string]struct {
		key      string
		typ      watchcache.EventType
		prev, is *view.Entry
		followed bool
		want     []Interest
		known    bool
	}{
		"nobody follows labels": {"ns/c", watchcache.Modified, was, bad, false, []Interest{name, space, both}, true},
		"of no namespace":       {"c", watchcache.Modified, was, is, false, []Interest{name}, true},
		"changed":               {"ns/c", watchcache.Modified, was, is, true, []Interest{name, space, both, of("", "a", "1"), of("ns", "a", "1"), of("", "b", "2"), of("ns", "b", "2"), of("", "a", "3"), of("ns", "a", "3")}, true},
		"the same labels":       {"ns/c", watchcache.Modified, was, same, true, []Interest{name, space, both, of("", "a", "1"), of("ns", "a", "1"), of("", "b", "2"), of("ns", "b", "2")}, true},
		"new":                   {"ns/c", watchcache.Added, nil, is, true, []Interest{name, space, both, of("", "a", "3"), of("ns", "a", "3")}, true},
		"new, of no namespace":  {"c", watchcache.Added, nil, is, true, []Interest{name, of("", "a", "3")}, true},
		"gone":                  {"ns/c", watchcache.Deleted, is, was, true, []Interest{name, space, both, of("", "a", "3"), of("ns", "a", "3")}, true},
		"unreadable":            {"ns/c", watchcache.Modified, is, bad, true, []Interest{name, space, both, of("", "a", "3"), of("ns", "a", "3")}, false},
	} {
		r.byLabel.Store(map[bool]int64{true: 1}[c.followed])
		var got []Interest
		ev := &watchcache.Event[*view.Entry]{Type: c.typ, Prev: c.prev}
		ev.Item.Key, ev.Item.Value = c.key, c.is
		known := r.interestsOf(ev, func(i Interest) { got = append(got, i) })
		for _, i := range c.want {
			if !slices.Contains(got, i) {
				t.Errorf("%s: %+v is not told", text, i)
			}
		}
		if known != c.known || len(got) != len(c.want) {
			t.Errorf("%s: %v, %+v", text, known, got)
		}
	}
	r.byLabel.Store(0)
}

// What objects weigh is what some of them do, of a namespace or of all.
func TestWeigh(t *testing.T) {
	s := newShelf(t)
	r := s.configMaps(0, 3)
	for namespace, want := range map[string]int64{"": 3, "default": 3, "other": 0, "defaul": 0} {
		if n, each := r.Weigh(namespace); n != want || (each > 50) != (want > 0) || each > 500 {
			t.Errorf("%q: %d objects of %d bytes", namespace, n, each)
		}
	}
}
