package write

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// propagation reads the options of a deletion from a word.
func propagation(t *testing.T, word string) *metav1.DeleteOptions {
	o := &metav1.DeleteOptions{}
	policy := func(p metav1.DeletionPropagation) { o.PropagationPolicy = &p }
	var seconds int64
	switch {
	case word == "nothing":
	case word == "orphan":
		policy(metav1.DeletePropagationOrphan)
	case word == "background":
		policy(metav1.DeletePropagationBackground)
	case word == "foreground":
		policy(metav1.DeletePropagationForeground)
	case word == "orphan=true", word == "orphan=false":
		yes := word == "orphan=true"
		//lint:ignore SA1019 clients still send it
		o.OrphanDependents = &yes
	default:
		if _, err := fmt.Sscanf(word, "grace=%d", &seconds); err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		o.GracePeriodSeconds = &seconds
	}
	return o
}

// What kube-apiserver answers: "-" means that the object is gone, all else are
// the finalizers of an object that is marked.
var propagations = []struct{ finalizers, options, want string }{
	{"", "nothing", "-"},
	{"", "orphan", "orphan"},
	{"", "background", "-"},
	{"", "foreground", "foregroundDeletion"},
	{"", "orphan=true", "orphan"},
	{"", "orphan=false", "-"},
	{"a/b", "nothing", "a/b"},
	{"a/b", "orphan", "a/b orphan"},
	{"a/b", "background", "a/b"},
	{"a/b", "foreground", "a/b foregroundDeletion"},
	{"a/b", "orphan=true", "a/b orphan"},
	{"a/b", "orphan=false", "a/b"},
	{"orphan", "nothing", "orphan"},
	{"orphan", "orphan", "orphan"},
	{"orphan", "background", "-"},
	{"orphan", "foreground", "foregroundDeletion"},
	{"orphan", "orphan=true", "orphan"},
	{"orphan", "orphan=false", "-"},
	{"foregroundDeletion", "nothing", "foregroundDeletion"},
	{"foregroundDeletion", "orphan", "orphan"},
	{"foregroundDeletion", "background", "-"},
	{"foregroundDeletion", "foreground", "foregroundDeletion"},
	{"foregroundDeletion", "orphan=true", "orphan"},
	{"foregroundDeletion", "orphan=false", "-"},
	{"a/b orphan", "background", "a/b"},
	{"a/b orphan", "foreground", "a/b foregroundDeletion"},
	{"a/b foregroundDeletion c/d", "nothing", "a/b foregroundDeletion c/d"},
	{"a/b foregroundDeletion c/d", "orphan", "a/b c/d orphan"},
	{"a/b foregroundDeletion c/d", "background", "a/b c/d"},
	{"a/b foregroundDeletion c/d", "foreground", "a/b foregroundDeletion c/d"},
	{"a/b foregroundDeletion c/d", "orphan=true", "a/b c/d orphan"},
	{"a/b foregroundDeletion c/d", "orphan=false", "a/b c/d"},
	// One after the other.
	{"a/b", "orphan nothing", "a/b orphan"},
	{"a/b", "orphan background", "a/b"},
	{"a/b", "orphan foreground", "a/b foregroundDeletion"},
	{"a/b", "orphan orphan=false", "a/b"},
	{"a/b", "foreground orphan", "a/b orphan"},
	{"a/b", "nothing foreground", "a/b foregroundDeletion"},
	{"a/b", "background orphan=true", "a/b orphan"},
	{"", "orphan nothing", "orphan"},
	{"", "orphan background", "-"},
	{"", "orphan foreground", "foregroundDeletion"},
	{"", "foreground background", "-"},
	{"", "foreground orphan", "orphan"},
	// Nothing takes its time, not even what asks for less than none.
	{"", "grace=0", "-"}, {"", "grace=30", "-"}, {"", "grace=-1", "-"}, {"", "grace=-5", "-"},
	{"a/b", "grace=0", "a/b"}, {"a/b", "grace=30", "a/b"}, {"a/b", "grace=-1", "a/b"}, {"a/b", "grace=30 grace=0", "a/b"},
}

func quoted(finalizers string) string {
	var out []string
	for _, f := range strings.Fields(finalizers) {
		out = append(out, fmt.Sprintf("%q", f))
	}
	return `"finalizers":[` + strings.Join(out, ",") + `]`
}

// marked compares what a deletion left.
func marked(t *testing.T, got *unstructured.Unstructured, want string, generation int64) {
	t.Helper()
	if have := strings.Join(got.GetFinalizers(), " "); have != want {
		t.Errorf("finalizers %q, want %q", have, want)
	}
	if g := got.GetDeletionGracePeriodSeconds(); got.GetDeletionTimestamp() == nil || g == nil || *g != 0 || got.GetGeneration() != generation {
		t.Errorf("got %v", got.Object["metadata"])
	}
}

func TestDeletionOptionsDecideFinalizers_DEL05(t *testing.T) {
	w := newWorld(t)
	kinds := []struct {
		collection resource.Target
		body       func(name, finalizers string) string
		generation int64
	}{
		{w.at(v1, ""), func(n, f string) string { return tab(v1, n, "h", "1", f) }, 2},
		{w.builtin("configmaps", "default", ""), func(n, f string) string { return configMap(n, "v", f) }, 0},
	}
	for k, kind := range kinds {
		for i, c := range propagations {
			t.Run(kind.collection.Resource.Def.Plural+" "+c.finalizers+" "+c.options, func(t *testing.T) {
				one := kind.collection
				one.Name = fmt.Sprintf("p-%d-%d", k, i)
				made := w.create(kind.collection, kind.body(one.Name, quoted(c.finalizers)))
				words := strings.Fields(c.options)
				for _, word := range words[:len(words)-1] {
					w.must(w.Delete(w.ctx(), one, propagation(t, word), resource.WriteOptions{}))
				}
				last := propagation(t, words[len(words)-1])
				dry, err := w.Delete(w.ctx(), one, last, resource.WriteOptions{DryRun: true})
				w.must(dry, err)
				out, err := w.Delete(w.ctx(), one, last, resource.WriteOptions{})
				got := w.must(out, err)
				if out.Deleted != (c.want == "-") || dry.Deleted != out.Deleted || out.UID != string(made.GetUID()) {
					t.Fatalf("got %+v, dry run %+v", out, dry)
				}
				if out.Deleted {
					return
				}
				marked(t, got, c.want, kind.generation)
				marked(t, w.read(one), c.want, kind.generation)
				marked(t, w.parse(dry.Object), c.want, kind.generation)
			})
		}
	}
}

func TestDeleteCollectionHonoursThePolicy_DEL05(t *testing.T) {
	w := newWorld(t)
	for i, word := range []string{"orphan", "foreground", "orphan=true", "background", "grace=-1"} {
		name := fmt.Sprintf("c-%d", i)
		w.create(w.at(v1, ""), tab(v1, name, "h", "1"))
		list := &internalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name)}
		if _, err := w.deleteAll(w.at(v1, ""), list, propagation(t, word), resource.WriteOptions{}, encoding.At(v1)); err != nil {
			t.Fatal(err)
		}
		left, err := w.List(w.ctx(), w.at(v1, ""), &internalversion.ListOptions{})
		if err != nil || len(left.Entries) != min(i+1, 3) {
			t.Fatalf("%s: %d left, %v", word, len(left.Entries), err)
		}
	}
	marked(t, w.read(w.at(v1, "c-0")), "orphan", 2)
	marked(t, w.read(w.at(v1, "c-1")), "foregroundDeletion", 2)
	marked(t, w.read(w.at(v1, "c-2")), "orphan", 2)
}

// Namespaces and definitions are deleted by finalizers of their own. A
// namespace takes the policy of the first deletion, a definition that of later
// ones, as in kube-apiserver.
func TestKindsThatFinalizeThemselvesAndThePolicy_DEL05(t *testing.T) {
	w := newWorld(t)
	del := func(one resource.Target, word string) *unstructured.Unstructured {
		t.Helper()
		return w.must(w.Delete(w.ctx(), one, propagation(t, word), resource.WriteOptions{}))
	}
	ns := w.builtin("namespaces", "", "other")
	for _, word := range []string{"foreground", "orphan", "nothing"} {
		got := del(ns, word)
		if !slices.Equal(got.GetFinalizers(), []string{"foregroundDeletion"}) || got.GetDeletionTimestamp() == nil || got.GetDeletionGracePeriodSeconds() != nil {
			t.Errorf("%s: %v", word, got.Object["metadata"])
		}
	}
	crd := w.builtin("customresourcedefinitions", "", "crontabs.example.com")
	const cleanup = "customresourcecleanup.apiextensions.k8s.io"
	before := w.read(crd).GetGeneration()
	got := del(crd, "foreground")
	if !slices.Equal(got.GetFinalizers(), []string{cleanup}) || got.GetDeletionTimestamp() == nil || got.GetDeletionGracePeriodSeconds() != nil || got.GetGeneration() != before {
		t.Errorf("got %v", got.Object["metadata"])
	}
	marked(t, del(crd, "orphan"), cleanup+" orphan", before)
	marked(t, del(crd, "background"), cleanup, before)
}

// Jobs and replication controllers leave their dependents when a deletion says
// nothing about them, as kube-apiserver has it.
func TestSomeKindsOrphanByDefault_DEL05(t *testing.T) {
	w := newWorld(t)
	const pods = `"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"%s","containers":[{"name":"c","image":"i"}]}}`
	bodies := map[string]string{
		"jobs": `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x","finalizers":%s},"spec":{` + fmt.Sprintf(pods, "Never") + `}}`,
		"replicationcontrollers": `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"x","finalizers":%s},"spec":{"selector":{"a":"b"},` +
			fmt.Sprintf(pods, "Always") + `}}`,
	}
	for plural, body := range bodies {
		for _, c := range []struct{ finalizers, options, want string }{
			{`[]`, "nothing", "orphan"},
			{`[]`, "background", "-"},
			{`[]`, "orphan=false", "-"},
			{`[]`, "foreground", "foregroundDeletion"},
			{`["a/b"]`, "nothing", "a/b orphan"},
			{`["orphan"]`, "nothing", "orphan"},
			{`["foregroundDeletion"]`, "nothing", "foregroundDeletion"},
		} {
			at := w.builtin(plural, "default", "")
			w.create(at, fmt.Sprintf(body, c.finalizers))
			at.Name = "x"
			var warnings []string
			out, err := w.Writer.Delete(w.ctx(), at, propagation(t, c.options), resource.WriteOptions{Warn: func(text string) { warnings = append(warnings, text) }})
			if err != nil {
				t.Fatal(err)
			}
			got := "-"
			if out.Object != nil {
				got = strings.Join(w.parse(out.Object).GetFinalizers(), " ")
			}
			if got != c.want {
				t.Errorf("%s with %s, %s: %s, want %s", plural, c.finalizers, c.options, got, c.want)
			}
			if want := plural == "jobs" && c.options == "nothing"; (len(warnings) == 1) != want {
				t.Errorf("%s with %s, %s: warned %q", plural, c.finalizers, c.options, warnings)
			}
			if got != "-" {
				if err := w.UpdateMetadata(w.ctx(), at, metav1.Preconditions{},
					func(m metav1.Object) { m.SetFinalizers(nil) }, resource.Component("test")); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// Where objects own nothing, as events do, no deletion waits for dependents, and
// what was to wait for them no longer does. So it is with kube-apiserver.
func TestWhatOwnsNothingWaitsForNoDependents_DEL05(t *testing.T) {
	for _, word := range []string{"nothing", "orphan", "background", "foreground", "orphan=true", "orphan=false"} {
		for _, had := range [][]string{nil, {"a/b"}, {"a/b", "orphan"}, {"foregroundDeletion", "a/b"}} {
			obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}}}
			obj.SetFinalizers(had)
			collect(obj, propagation(t, word), &crd.Definition{OwnsNothing: true})
			if left := strings.Join(obj.GetFinalizers(), " "); left != strings.Join(slices.DeleteFunc(slices.Clone(had), ofCollector), " ") {
				t.Errorf("%s: of %v is left %s", word, had, left)
			}
		}
	}
}
