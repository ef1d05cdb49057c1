package read_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
)

func byName(t testing.TB, selector string) internalversion.ListOptions {
	t.Helper()
	s, err := fields.ParseSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return internalversion.ListOptions{FieldSelector: s}
}

// fill writes objects of names n00 to n39 into namespaces, each there with the given
// chance, and returns the keys.
func (w *world) fill(rnd *rand.Rand, namespaces int, chance float64) (keys []string) {
	w.t.Helper()
	resource := w.at(v1, "").Resource
	for i := range namespaces {
		for name := range 40 {
			if rnd.Float64() > chance {
				continue
			}
			namespace, name := fmt.Sprintf("ns%02d", i), fmt.Sprintf("n%02d", name)
			if _, err := w.store.Create(w.ctx(), resource.Key(namespace, name), fmt.Appendf(nil, `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":%q,"namespace":%q,"uid":"u"}}`, name, namespace), 0); err != nil {
				w.t.Fatal(err)
			}
			keys = append(keys, namespace+"/"+name)
		}
	}
	w.wait(w.revision())
	return keys
}

// A name is looked up, and found wherever looking at everything would find it, page
// after page.
func TestNamesAreLookedUp_LIST05(t *testing.T) {
	for seed := range uint64(8) {
		w, rnd := newWorld(t), rand.New(rand.NewPCG(seed, 7))
		keys := w.fill(rnd, 1+rnd.IntN(12), []float64{0.05, 0.5, 0.95}[seed%3])
		for range 30 {
			name := fmt.Sprintf("n%02d", rnd.IntN(41))
			target := w.at(v1, "")
			target.Namespace = []string{"", fmt.Sprintf("ns%02d", rnd.IntN(12))}[rnd.IntN(2)]
			var want, got []string
			for _, key := range keys {
				if namespace := key[:4]; key[5:] == name && (target.Namespace == "" || target.Namespace == namespace) {
					want = append(want, key+"=<nil>")
				}
			}
			o := byName(t, "metadata.name="+name)
			o.Limit = int64(rnd.IntN(4))
			for {
				page, err := w.list(target, o)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, w.names(page)...)
				if o.Continue = page.Continue; o.Continue == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: %s in %q: %v, want %v", seed, name, target.Namespace, got, want)
			}
		}
	}
}

// BenchmarkNamed lists one of 40,000 objects by its name.
func BenchmarkNamed(b *testing.B) {
	w := newWorld(b)
	w.fill(rand.New(rand.NewPCG(1, 1)), 1000, 1)
	for _, namespace := range []string{"", "ns77"} {
		b.Run("in "+namespace, func(b *testing.B) {
			target, o := w.at(v1, ""), byName(b, "metadata.name=n20")
			target.Namespace = namespace
			for b.Loop() {
				if l, err := w.List(b.Context(), target, &o); err != nil || len(l.Entries) == 0 {
					b.Fatal(l, err)
				}
			}
		})
	}
}
