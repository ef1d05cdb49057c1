package write

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

var tester = resource.WriteOptions{Caller: resource.Component("tester")}

// An edit asks nobody, owns nothing, and is made again of what others write
// meanwhile.
func TestEdits(t *testing.T) {
	w, log, _, _ := staged(t)
	one := w.builtin("configmaps", "default", "one")
	made := w.must(w.Create(w.ctx(), w.builtin("configmaps", "default", ""), []byte(configMap("one", "1")), alice))
	tries := 0
	edit := resource.Edit{Change: func(u *unstructured.Unstructured) error {
		if tries++; tries == 1 {
			if _, err := w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"data":{"other":"x"}}`), alice); err != nil {
				t.Error(err)
			}
			*log = nil
		}
		if u.GetManagedFields() != nil || u.GetUID() != made.GetUID() || u.GetResourceVersion() == "" {
			t.Errorf("edited %v", u.Object)
		}
		return unstructured.SetNestedField(u.Object, "y", "data", "edited")
	}}
	out, err := w.Edit(w.ctx(), one, edit, tester)
	if err != nil || tries != 2 || len(*log) != 0 {
		t.Fatalf("%v after %d tries, asked %v", err, tries, *log)
	}
	got := w.parse(out.Object)
	w.wait(w.revision())
	if data, _, _ := unstructured.NestedStringMap(got.Object, "data"); data["edited"] != "y" || data["other"] != "x" {
		t.Errorf("%v", data)
	}
	for _, m := range got.GetManagedFields() {
		if m.Manager == "tester" || strings.Contains(string(m.FieldsV1.GetRawBytes()), "edited") {
			t.Errorf("managed by %v", m)
		}
	}

	is := got.GetResourceVersion()
	edit.DryRun = true
	if _, err := w.Edit(w.ctx(), one, resource.Edit{DryRun: true, Change: func(u *unstructured.Unstructured) error { u.SetLabels(map[string]string{"a": "b"}); return nil }}, tester); err != nil {
		t.Error(err)
	}
	if now := w.read(one); now.GetResourceVersion() != is {
		t.Errorf("a dry run made %v", now.Object)
	}
	no := errors.New("no")
	if _, err := w.Edit(w.ctx(), one, resource.Edit{Change: func(*unstructured.Unstructured) error { return no }}, tester); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if _, err := w.Edit(w.ctx(), w.builtin("configmaps", "default", "none"), edit, tester); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	odd := one
	odd.Subresource = "odd"
	if _, err := w.Edit(w.ctx(), odd, edit, tester); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

// Who means another object than there is, or another state of it, does not edit
// it. The words are those of kube-apiserver's store.
func TestEditsOfWhatIsMeant(t *testing.T) {
	w := newWorld(t)
	made := w.create(w.builtin("configmaps", "default", ""), configMap("one", "1"))
	w.wait(w.revision())
	uid, other, revision, old := made.GetUID(), types.UID("other"), made.GetResourceVersion(), "1"
	for _, c := range []struct {
		meant metav1.Preconditions
		want  string
	}{
		{metav1.Preconditions{UID: &uid, ResourceVersion: &revision}, ""},
		{metav1.Preconditions{UID: &other}, "Precondition failed: UID in precondition: other, UID in object meta: " + string(uid)},
		{metav1.Preconditions{ResourceVersion: &old}, "Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: " + revision},
	} {
		_, err := w.Edit(w.ctx(), w.builtin("configmaps", "default", "one"), resource.Edit{Meant: c.meant, Change: func(*unstructured.Unstructured) error { return nil }}, tester)
		if c.want == "" && err != nil {
			t.Error(err)
		}
		if c.want != "" {
			refused(t, err, 409, "Conflict", `Operation cannot be fulfilled on configmaps "one": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/one, ResourceVersion: 0, AdditionalErrorMsg: `+c.want)
		}
	}
}

// A removal asks nobody but who may say no to each state that it is tried on.
func TestRemovals(t *testing.T) {
	w, log, _, _ := staged(t)
	one := w.builtin("configmaps", "default", "one")
	w.must(w.Create(w.ctx(), w.builtin("configmaps", "default", ""), []byte(configMap("one", "1")), alice))
	no, tries := errors.New("no"), 0
	may := func(u *unstructured.Unstructured) error {
		if tries++; tries == 1 {
			if _, err := w.Patch(w.ctx(), one, types.MergePatchType, []byte(`{"data":{"held":"x"}}`), alice); err != nil {
				t.Error(err)
			}
			*log = nil
		}
		if u.GetManagedFields() != nil {
			t.Errorf("asked about %v", u.Object)
		}
		if data, _, _ := unstructured.NestedStringMap(u.Object, "data"); data["held"] != "" {
			return no
		}
		return nil
	}
	if _, err := w.Remove(w.ctx(), one, &metav1.DeleteOptions{}, may, tester); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if now := w.read(one); len(now.GetManagedFields()) == 0 {
		t.Errorf("%v", now.Object)
	}
	yes := func(*unstructured.Unstructured) error { return nil }
	if _, err := w.Remove(w.ctx(), one, &metav1.DeleteOptions{DryRun: []string{"All"}}, yes, resource.WriteOptions{Caller: tester.Caller, NoReply: true, DryRun: true}); err != nil {
		t.Error(err)
	}
	w.read(one)
	if _, err := w.Remove(w.ctx(), one, &metav1.DeleteOptions{}, yes, tester); err != nil || len(*log) != 0 {
		t.Errorf("%v, asked %v", err, *log)
	}
	if _, err := w.entry(w.ctx(), one); !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}
