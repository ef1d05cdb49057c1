package read_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/read"
)

// told collects what a watch tells until the object "end" is there. It looks only when
// it is woken.
func (w *world) told(watch *read.Watch) (out []string) {
	ctx := w.ctx()
	for {
		select {
		case <-watch.Wait():
		case <-ctx.Done():
			w.t.Errorf("woken no more after %d changes", len(out))
			return out
		}
		for more := true; more; {
			var changes []resource.Change
			var err error
			if changes, more, err = watch.Next(ctx); err != nil {
				w.t.Error(err)
				return out
			}
			for _, c := range changes {
				name := w.parse(c.Entry.Stored()).GetName()
				if name == "end" {
					return out
				}
				out = append(out, fmt.Sprintf("%s %s %d", c.Type, name, c.Entry.Revision))
			}
		}
	}
}

// Watchers that are woken for a name, labels or a namespace are told what those are
// told that select the same in words that nobody can be woken by.
func TestWatchersAreWokenForTheirs_WATCH02(t *testing.T) {
	w, rnd := newWorld(t), rand.New(rand.NewPCG(9, 9))
	w.wait(w.labelled("n0/o0", labels.Set{"tier": "1"}))
	start := fmt.Sprint(w.revision())
	both := map[string][2][]string{}
	var mu sync.Mutex
	var watchers sync.WaitGroup
	for _, c := range []struct{ namespace, labels, fields, otherLabels, otherFields string }{
		{"", "tier=2", "", "tier,tier notin (0,1,3)", ""},
		{"", "tier in (0,3),!x", "", "tier,tier notin (1,2),!x", ""},
		{"n1", "tier==0", "", "tier,tier notin (1,2,3)", "metadata.namespace=n1"},
		{"n1", "tier in (0,3," + many(read.MostInterests) + ")", "", "tier,tier notin (1,2)", "metadata.namespace=n1"},
		{"n1", "", "", "", "metadata.namespace=n1"},
		{"n0", "tier!=1", "", "tier!=1", "metadata.namespace=n0"},
		{"", "", "metadata.name=end", "end", ""},
	} {
		for i, q := range [][3]string{{c.namespace, c.labels, c.fields}, {"", c.otherLabels, c.otherFields}} {
			o := byLabels(t, q[1])
			o.ResourceVersion, o.FieldSelector = start, byName(t, q[2]).FieldSelector
			target := w.at(v1, "")
			target.Namespace = q[0]
			watch := w.watch(target, o)
			watchers.Go(func() {
				out := w.told(watch)
				mu.Lock()
				defer mu.Unlock()
				pair := both[fmt.Sprint(c)]
				pair[i] = out
				both[fmt.Sprint(c)] = pair
			})
		}
	}
	for range 3000 {
		set := labels.Set{"tier": fmt.Sprint(rnd.IntN(4))}
		if rnd.IntN(5) == 0 {
			set = labels.Set{"x": ""}
		}
		w.labelled(fmt.Sprintf("n%d/o%d", rnd.IntN(2), rnd.IntN(9)), set)
	}
	for tier := range 4 { // the end of each
		for namespace := range 2 {
			w.labelled(fmt.Sprintf("n%d/end", namespace), labels.Set{"tier": fmt.Sprint(tier), "end": ""})
		}
	}
	watchers.Wait()
	for c, pair := range both {
		if !slices.Equal(pair[0], pair[1]) || len(pair[0]) < 100 && !strings.Contains(c, "end") {
			t.Errorf("%s: %d changes, and %d", c, len(pair[0]), len(pair[1]))
		}
	}
}

// many are n values of a label, all of them different.
func many(n int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprint("v", i)
	}
	return strings.Join(values, ",")
}

// Of a selector with thousands of values, which fit into a query, the hub does not hold
// each for each watcher: these are woken for their namespace.
func TestManyValuesAreFewInterests_WATCH02(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		namespace string
		values    int
		want      []catalog.Interest
	}{
		{"n1", read.MostInterests + 1, []catalog.Interest{{Namespace: "n1"}}},
		{"n1", 4900, []catalog.Interest{{Namespace: "n1"}}},
		{"", 4900, nil},
	} {
		target, o := w.at(v1, ""), byLabels(t, "tier in ("+many(c.values)+")")
		target.Namespace = c.namespace
		if got, err := read.Interests(target, &o); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q, %d values: woken for %d, %v; want %v", c.namespace, c.values, len(got), err, c.want)
		}
	}
	target, o := w.at(v1, ""), byLabels(t, "tier in ("+many(read.MostInterests)+")")
	if got, err := read.Interests(target, &o); err != nil || len(got) != read.MostInterests {
		t.Errorf("a few values: woken for %d, %v", len(got), err)
	}
}

// BenchmarkWatchersOfOthers is one update while 2,000 watch, each another label.
func BenchmarkWatchersOfOthers(b *testing.B) {
	w := newWorld(b)
	w.wait(w.labelled("ns/one", labels.Set{"w": "0"}))
	done := make(chan struct{})
	seen := make(chan struct{}, 1)
	var watchers sync.WaitGroup
	for i := range 2000 {
		o := byLabels(b, fmt.Sprintf("w=%d", i))
		o.ResourceVersion = fmt.Sprint(w.revision())
		target := w.at(v1, "")
		target.Namespace = ""
		watch := w.watch(target, o)
		watchers.Go(func() {
			for {
				select {
				case <-watch.Wait():
					if changes, _, err := watch.Next(b.Context()); err != nil || i == 0 && len(changes) > 0 {
						seen <- struct{}{}
					}
				case <-done:
					return
				}
			}
		})
	}
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w.labelled("ns/one", labels.Set{"w": "0"})
		<-seen
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/float64(b.N), "cpu-ns/op")
	close(done)
	watchers.Wait()
}
