package read_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func byLabels(t testing.TB, selector string) internalversion.ListOptions {
	t.Helper()
	s, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	return internalversion.ListOptions{LabelSelector: s}
}

// labelled writes an object with labels past the engine, and returns its revision.
func (w *world) labelled(key string, set labels.Set) int64 {
	w.t.Helper()
	text := `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"` + key[3:] + `","namespace":"` + key[:2] + `","uid":"u","labels":{`
	for i, name := range slices.Sorted(maps.Keys(set)) {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("%q:%q", name, set[name])
	}
	stored := w.at(v1, "").Resource.Root() + key
	var rev int64
	kv, err := w.store.Get(w.ctx(), stored)
	if err == nil {
		rev, err = w.store.Update(w.ctx(), stored, []byte(text+"}}}"), kv.Revision, 0)
	} else {
		rev, err = w.store.Create(w.ctx(), stored, []byte(text+"}}}"), 0)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return rev
}

// pages lists to the end, and gives the objects as namespace/name.
func (w *world) pages(namespace string, o internalversion.ListOptions) (got []string) {
	w.t.Helper()
	target := w.at(v1, "")
	target.Namespace = namespace
	for {
		page, err := w.list(target, o)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range page.Entries {
			u := w.parse(e.Stored())
			got = append(got, u.GetNamespace()+"/"+u.GetName())
		}
		if o.Continue = page.Continue; o.Continue == "" {
			return got
		}
		o.ResourceVersion, o.ResourceVersionMatch = "", ""
	}
}

// What selectors find by an index is what they select of all objects, while labels
// come and go, in pages, in one namespace and at revisions of the past.
func TestLabelsAreLookedUp_LIST05(t *testing.T) {
	w, rnd := newWorld(t), rand.New(rand.NewPCG(5, 5))
	model := map[string]labels.Set{}
	change := func(key string) int64 {
		set := labels.Set{"all": "x", "own": key[3:], "tier": fmt.Sprint(rnd.IntN(40))}
		if rnd.IntN(3) == 0 {
			set = labels.Set{"tier": "t", "rare": fmt.Sprint(rnd.IntN(300))}
		}
		model[key] = set
		return w.labelled(key, set)
	}
	var rev int64
	for i := range 2400 {
		rev = change(fmt.Sprintf("n%d/o%04d", i%2, i))
	}
	type moment struct {
		rev   int64
		state map[string]labels.Set
	}
	var past []moment
	for turn := range 12 {
		w.wait(rev)
		past = append(past, moment{rev, maps.Clone(model)})
		for _, selector := range []string{"tier=7", "tier in (1,2,none)", "rare=4", "own=o0007", "all=x,tier=3", "all=x", "tier!=3,rare", "rare==9,own=o0001"} {
			o, m := byLabels(t, selector), past[rnd.IntN(len(past))]
			o.Limit = int64(rnd.IntN(2) * (3 + rnd.IntN(20)))
			if turn%2 == 1 {
				o.ResourceVersion, o.ResourceVersionMatch = fmt.Sprint(m.rev), metav1.ResourceVersionMatchExact
			} else {
				m = past[len(past)-1]
			}
			for _, namespace := range []string{"", "n1"} {
				var want []string
				for key, set := range m.state {
					if o.LabelSelector.Matches(set) && (namespace == "" || key[:2] == namespace) {
						want = append(want, key)
					}
				}
				slices.Sort(want)
				if got := w.pages(namespace, o); !slices.Equal(got, want) {
					t.Fatalf("turn %d: %s of %q: %d objects, want %d: %.200q", turn, selector, namespace, len(got), len(want), got)
				}
			}
		}
		for range 300 {
			rev = change(fmt.Sprintf("n%d/o%04d", rnd.IntN(2), rnd.IntN(2500)))
		}
	}
}

// BenchmarkLabelled lists those of 100,000 objects that have a label: ten, and a
// hundred; and a hundred of 5,000.
func BenchmarkLabelled(b *testing.B) {
	for _, c := range []struct{ objects, of int }{{100_000, 10}, {100_000, 100}, {5000, 100}} {
		b.Run(fmt.Sprintf("%d of %d", c.of, c.objects), func(b *testing.B) {
			w := newWorld(b)
			var rev int64
			for i := range c.objects {
				rev = w.labelled(fmt.Sprintf("ns/%06d", i), labels.Set{"app": "web", "rare": fmt.Sprint(i % (c.objects / c.of))})
			}
			w.wait(rev)
			target, o := w.at(v1, ""), byLabels(b, "rare=7")
			target.Namespace = ""
			b.ReportAllocs()
			for b.Loop() {
				if l, err := w.List(b.Context(), target, &o); err != nil || len(l.Entries) != c.of {
					b.Fatal(l, err)
				}
			}
		})
	}
}
