package write

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/view/encoding"
)

// changed has a mutator replace the object by what f makes of it.
func changed(f func(*unstructured.Unstructured)) func(context.Context, admission.Attributes) error {
	return func(ctx context.Context, a admission.Attributes) error {
		tree := object.Clone(a.GetObject().Object)
		f(&unstructured.Unstructured{Object: tree})
		return a.(attributes).Replace(ctx, a.GetResource().Version, tree)
	}
}

// A name is generated where there is none once admission was asked, as in kube-apiserver.
func TestAdmissionMayNameWhatIsCreated_ADM(t *testing.T) {
	w, _, mutator, _ := staged(t)
	nameless := func(metadata string) []byte {
		return []byte(strings.Replace(tab(v1, "x", "h", "1"), `"name":"x"`, metadata, 1))
	}
	mutator.do = changed(func(u *unstructured.Unstructured) { u.SetName("job-42") })
	if made := w.must(w.Create(w.ctx(), w.at(v1, ""), nameless(`"generateName":"job-"`), alice)); made.GetName() != "job-42" {
		t.Errorf("it is called %s", made.GetName())
	}
	_, err := w.Create(w.ctx(), w.at(v1, ""), nameless(`"generateName":"job-"`), alice)
	refused(t, err, 409, "AlreadyExists", `"job-42" already exists`)
	mutator.do = changed(func(u *unstructured.Unstructured) { u.SetGenerateName("gen-") })
	if made := w.must(w.Create(w.ctx(), w.at(v1, ""), nameless(`"labels":{"a":"b"}`), alice)); !strings.HasPrefix(made.GetName(), "gen-") {
		t.Errorf("it is called %s", made.GetName())
	}
	mutator.do = nil
	_, err = w.Create(w.ctx(), w.at(v1, ""), nameless(`"labels":{"a":"b"}`), alice)
	refused(t, err, 422, "Invalid", "name or generateName is required")
}

// What the gateway takes from an object's metadata is all that changes: what mutating
// admission makes of such a write nobody would validate, and what ends stays ended.
func TestMutatorsChangeNothingOfWhatIsLoosened_DEL03(t *testing.T) {
	w, _, mutator, _ := staged(t)
	w.create(w.at(v1, ""), tab(v1, "one", "h", "1", `"finalizers":["example.com/f","example.com/g"]`))
	made := w.read(w.at(v1, "one"))
	w.must(w.Delete(w.ctx(), w.at(v1, "one"), &metav1.DeleteOptions{}, alice))
	asked := 0
	mutator.do = func(ctx context.Context, a admission.Attributes) error {
		asked++
		return changed(func(u *unstructured.Unstructured) {
			u.SetUID("other")
			u.Object["spec"] = map[string]any{"replicas": "many"}
			u.SetFinalizers([]string{"example.com/mine"})
		})(ctx, a)
	}
	loosen := func(f string) {
		err := w.UpdateMetadata(w.ctx(), w.at(v1, "one"), metav1.Preconditions{}, func(m metav1.Object) {
			m.SetFinalizers(slices.DeleteFunc(m.GetFinalizers(), func(x string) bool { return x == f }))
		}, resource.Component("collector"))
		if err != nil {
			t.Fatal(err)
		}
	}
	loosen("example.com/f")
	left := w.read(w.at(v1, "one"))
	if asked == 0 || left.GetUID() != made.GetUID() || !slices.Equal(left.GetFinalizers(), []string{"example.com/g"}) || !object.Equal(map[string]any{"spec": left.Object["spec"]}, map[string]any{"spec": made.Object["spec"]}) {
		t.Errorf("asked %d times, it is %v", asked, left.Object)
	}
	loosen("example.com/g")
	if _, err := w.Get(w.ctx(), w.at(v1, "one"), "", encoding.At(v1)); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("it is still there: %v", err)
	}
}
