package garbage_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/garbage"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// collects is what the collector of one leader sees.
type collects struct{ *controllertest.Seat }

func (c collects) Feed(gr schema.GroupResource) (garbage.Feed, error) { return c.Objects.Feed(gr), nil }

func (collects) GarbageSyncError() {}
func (collects) GarbageCollected() {}

// family are objects of namespace work that own each other, none of which knows that when
// it is created: what is made again in the place of one of them is nobody's.
type family struct {
	*controllertest.Objects
	t *testing.T
}

// born are the objects, and whose they become. Of "gone" there is another object, not the
// one that owns something.
var born = []struct {
	name   string
	owners []string
}{
	{"gone", nil}, {"solid", nil}, {"waits", nil}, {"orphans", nil},
	{"child", []string{"waits"}}, {"grandchild", []string{"child"}}, {"kept", []string{"orphans"}}, {"shared", []string{"waits", "solid"}},
	{"lost", []string{"gone"}}, {"mixed", []string{"gone", "solid"}},
}

func newFamily(t *testing.T) family {
	f := family{controllertest.New(), t}
	controllertest.MustCreate(t, f, gvr.Namespaces, controllertest.NamespaceTree("work"))
	for _, b := range born {
		controllertest.MustCreate(t, f, maps, controllertest.ObjectTree("work", b.name))
	}
	for _, b := range born {
		f.belongs(b.name, b.owners...)
	}
	for name, policy := range map[string]metav1.DeletionPropagation{"waits": foreground, "orphans": orphan} {
		f.deletes(name, policy)
	}
	return f
}

// belongs gives an object owners, whose deletion it holds up.
func (f family) belongs(name string, owners ...string) {
	f.t.Helper()
	var refs []metav1.OwnerReference
	for _, o := range owners {
		uid, yes := types.UID("uid-gone"), true
		if o != "gone" {
			uid = controllertest.MustGet(f.t, f, maps, "work", o).GetUID()
		}
		refs = append(refs, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o, UID: uid, BlockOwnerDeletion: &yes})
	}
	controllertest.MustChange(f.t, f, maps, "", "work", name, func(obj *unstructured.Unstructured) { obj.SetOwnerReferences(refs) })
}

// deletes deletes an object as a client does.
func (f family) deletes(name string, policy metav1.DeletionPropagation) {
	f.t.Helper()
	if err := f.Delete(context.Background(), maps, "work", name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		f.t.Fatal(err)
	}
}

// tells says of each object that there is whose it is.
func (f family) tells() (words []string) {
	f.t.Helper()
	all, err := f.List(context.Background(), maps, "")
	if err != nil {
		f.t.Error(err)
	}
	for _, obj := range all {
		word := obj.GetName()
		for _, r := range obj.GetOwnerReferences() {
			word += "<" + r.Name
		}
		words = append(words, word)
	}
	return words
}

// What nobody owns any more goes, and what is left belongs to who is there, whatever
// happens to the collector. What is made again in the place of something that goes stays,
// and is nobody's; or, if it is to leave dependents alone, it does.
func TestGarbageWhateverHappens_DEL05(t *testing.T) {
	want := []string{"gone", "kept", "mixed<solid", "shared<solid", "solid"}
	for main, stays := range map[string]string{"waits": "waits", "child": "child", "grandchild": "grandchild", "kept": "", "lost": "lost", "orphans": "later"} {
		again := false
		t.Run(main, controllertest.Story{
			World: func(t *testing.T) *controllertest.Objects {
				again = false
				return newFamily(t).Objects
			},
			Lead: func(s *controllertest.Seat) []controller.Controller {
				return []controller.Controller{garbage.New(garbage.Options{Objects: s, Source: collects{s}, Stored: s.Stored(), Metrics: collects{s}, Log: zerolog.Nop()})}
			},
			Main: controller.Key{GroupResource: maps, Namespace: "work", Name: main},
			Again: func(t *testing.T, o *controllertest.Objects) {
				again = true
				if f := (family{o, t}); main == "orphans" {
					controllertest.MustCreate(t, f, maps, controllertest.ObjectTree("work", "later"))
					f.belongs("later", main)
					f.deletes(main, orphan)
				}
			},
			Outcome: func(t *testing.T, o *controllertest.Objects) string {
				said := family{o, t}.tells()
				if !again || stays == "" {
					return strings.Join(said, " ")
				}
				if !slices.Contains(said, stays) {
					t.Errorf("%s is not there, or not nobody's: %v", stays, said)
				}
				said = slices.DeleteFunc(said, func(word string) bool { return word == stays })
				if main == "orphans" && !slices.Contains(said, "kept") { // it may be garbage of the one that went before it was left alone
					said = slices.Insert(said, 1, "kept")
				}
				return strings.Join(said, " ")
			},
			Want: strings.Join(want, " "),
		}.Tell)
	}
}
