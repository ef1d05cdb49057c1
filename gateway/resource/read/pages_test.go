package read_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// names of a list's objects with their namespaces.
func (w *world) names(l *resource.List) (out []string) {
	w.t.Helper()
	for _, e := range l.Entries {
		u := w.parse(e.Stored())
		out = append(out, u.GetNamespace()+"/"+u.GetName()+"="+fmt.Sprint(u.Object["port"]))
	}
	return out
}

// change makes one random change to the CronTabs of two namespaces.
func (w *world) change(rnd *rand.Rand, live map[string]string) {
	w.t.Helper()
	ns, name := []string{"default", "other"}[rnd.IntN(2)], fmt.Sprintf("tab-%02d", rnd.IntN(25))
	target, key, port := w.at(v1, ""), ns+"/"+name, fmt.Sprint(rnd.IntN(60_000))
	target.Namespace = ns
	_, exists := live[key]
	switch {
	case !exists:
		w.create(target, tab(v1, name, "h", port))
		live[key] = port
	case rnd.IntN(3) == 0:
		target.Name = name
		w.must(w.Delete(w.ctx(), target, &metav1.DeleteOptions{}, resource.WriteOptions{}))
		delete(live, key)
	default:
		target.Name = name
		w.must(w.Patch(w.ctx(), target, "application/merge-patch+json", fmt.Appendf(nil, `{"port":%q}`, port), resource.WriteOptions{}))
		live[key] = port
	}
}

// expected is what a list of a namespace, or all, shows.
func expected(live map[string]string, namespace string) (out []string) {
	for key, port := range live {
		if namespace == "" || strings.HasPrefix(key, namespace+"/") {
			out = append(out, key+"="+port)
		}
	}
	slices.Sort(out)
	return out
}

// TestPagesAreOneSnapshot: whatever the limits and whatever is written between
// the pages, together they are the list as it was when the first was read; from
// memory, and from the store after its history was compacted up to there.
func TestPagesAreOneSnapshot_LIST05_RV08(t *testing.T) {
	for seed := range uint64(6) {
		store := storagetest.NewMemory()
		w := worldOver(t, store)
		rnd := rand.New(rand.NewPCG(seed, 3))
		live := map[string]string{}
		for range 60 {
			w.change(rnd, live)
		}
		target := w.at(v1, "")
		target.Namespace = []string{"", "default", "other"}[seed%3]
		want := expected(live, target.Namespace)
		read := map[string]func(internalversion.ListOptions) (*resource.List, error){
			"memory":  func(o internalversion.ListOptions) (*resource.List, error) { return w.list(target, o) },
			"history": func(o internalversion.ListOptions) (*resource.List, error) { return w.listPast(target, o) },
		}
		first, err := w.list(target, internalversion.ListOptions{Limit: int64(1 + rnd.IntN(4))})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{"memory": w.names(first), "history": w.names(first)}
		tokens := map[string]string{"memory": first.Continue, "history": first.Continue}
		for tokens["memory"] != "" || tokens["history"] != "" {
			w.change(rnd, live)
			if rnd.IntN(3) == 0 { // up to the list, and no further
				if err := store.Compact(w.ctx(), first.Revision); err != nil {
					t.Fatal(err)
				}
			}
			for from, token := range tokens {
				if token == "" {
					continue
				}
				page, err := read[from](internalversion.ListOptions{Limit: int64(1 + rnd.IntN(7)), Continue: token})
				if err != nil {
					t.Fatalf("seed %d, %s: %v", seed, from, err)
				}
				got[from] = append(got[from], w.names(page)...)
				if left := len(want) - len(got[from]); page.Revision != first.Revision || (page.Continue == "") != (left == 0) ||
					left > 0 && (page.Remaining == nil || *page.Remaining != int64(left)) {
					t.Errorf("seed %d, %s: after %d of %d objects at %d: revision %d, token %q, remaining %v",
						seed, from, len(got[from]), len(want), first.Revision, page.Revision, page.Continue, page.Remaining)
				}
				tokens[from] = page.Continue
			}
		}
		for from := range got {
			if !slices.Equal(got[from], want) {
				t.Errorf("seed %d, %s: the pages are %v, the list was %v", seed, from, got[from], want)
			}
		}
	}
}

// TestForeignTokensAreRefused: a token is for the list that gave it.
func TestForeignTokensAreRefused_LIST06(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.create(w.at(v1, ""), tab(v1, fmt.Sprintf("tab-%d", i), "h", "1"))
		w.create(w.builtin("configmaps", "default", ""), configMap(fmt.Sprintf("map-%d", i), "x"))
	}
	token := func(target resource.Target) string {
		t.Helper()
		l, err := w.list(target, internalversion.ListOptions{Limit: 1})
		if err != nil || l.Continue == "" {
			t.Fatal(l, err)
		}
		return l.Continue
	}
	here := w.at(v1, "")
	everywhere, elsewhere := here, here
	everywhere.Namespace, elsewhere.Namespace = "", "other"
	lists := map[string]resource.Target{"one namespace": here, "another": elsewhere, "all": everywhere, "another kind": w.builtin("configmaps", "default", "")}
	given := map[string]string{"one namespace": token(here), "all": token(everywhere), "another kind": token(lists["another kind"])}
	for owner, mine := range given {
		for list, target := range lists {
			l, err := w.list(target, internalversion.ListOptions{Limit: 5, Continue: mine})
			if err != nil {
				if list == owner {
					t.Errorf("the token of %s is refused there: %v", owner, err)
				}
				refused(t, err, 400, "BadRequest", "continue")
				continue
			}
			// A token names where to go on below the list's own root, so that it
			// cannot reach anything that the list would not show.
			shown, err := bytesOf(w.ctx(), target.Resource, l.Entries, encoding.At(v1))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range shown {
				u := w.parse(o)
				if (u.GetKind() == "ConfigMap") != (list == "another kind") || target.Namespace != "" && u.GetNamespace() != target.Namespace {
					t.Errorf("the token of %s shows %s %s/%s in the list of %s", owner, u.GetKind(), u.GetNamespace(), u.GetName(), list)
				}
			}
		}
	}
}
