package write

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Owner references are kept once each, however they come to be there twice, and who sent
// them is told in kube-apiserver's words.
func TestOwnerReferencesAreThereOnce(t *testing.T) {
	w := newWorld(t)
	const words = "; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
	ref := func(uid, more string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":%q%s}`, uid, more)
	}
	said := func(o *resource.WriteOptions) *[]string {
		var texts []string
		o.Warn = func(text string) { texts = append(texts, text) }
		return &texts
	}
	refs := func(all ...string) string {
		out := ""
		for _, r := range all {
			out += "," + r
		}
		return `"ownerReferences":[` + out[1:] + `]`
	}
	one := w.builtin("configmaps", "default", "one")
	body := func(refs string) []byte {
		return []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one",` + refs + `}}`)
	}
	for _, c := range []struct {
		how  string
		do   func(o resource.WriteOptions) (*resource.Written, error)
		left int
		warn []string
	}{
		{"create", func(o resource.WriteOptions) (*resource.Written, error) {
			return w.Create(w.ctx(), w.builtin("configmaps", "default", ""), body(refs(ref("a", ""), ref("a", ""))), o)
		}, 1, []string{".metadata.ownerReferences contains duplicate entries" + words + "a"}},
		{"put", func(o resource.WriteOptions) (*resource.Written, error) {
			return w.Update(w.ctx(), one, body(refs(ref("a", ""), ref("b", ""), ref("b", ""), ref("a", ""))), o)
		}, 2, []string{".metadata.ownerReferences contains duplicate entries" + words + "b, a"}},
		{"of one UID, but not the same", func(o resource.WriteOptions) (*resource.Written, error) {
			return w.Update(w.ctx(), one, body(refs(ref("a", ""), ref("a", `,"controller":true`))), o)
		}, 2, nil},
		{"patch", func(o resource.WriteOptions) (*resource.Written, error) {
			return w.Patch(w.ctx(), one, types.JSONPatchType, []byte(`[{"op":"add","path":"/metadata/ownerReferences/-","value":`+ref("a", "")+`}]`), o)
		}, 2, []string{".metadata.ownerReferences contains duplicate entries after mutating admission happens" + words + "a"}},
	} {
		o := resource.WriteOptions{Caller: resource.Caller{FieldManager: "m"}}
		texts := said(&o)
		got := w.must(c.do(o))
		if n := len(got.GetOwnerReferences()); n != c.left || !slices.Equal(slices.Compact(*texts), c.warn) {
			t.Errorf("%s: %d are left, told %q", c.how, n, *texts)
		}
	}
	if kept := w.read(one).GetOwnerReferences(); len(kept) != 2 {
		t.Errorf("%v are kept", kept)
	}
}

// As many references of one UID as a body can hold are not compared with each other.
func TestManyOwnerReferencesOfOneUID(t *testing.T) {
	refs := make([]any, 60_000)
	for i := range refs {
		refs[i] = map[string]any{"uid": "a", "name": strconv.Itoa(i)}
	}
	obj := asUnstructured(map[string]any{"metadata": map[string]any{"ownerReferences": append(refs, refs[7])}})
	var told string
	unite(resource.WriteOptions{Warn: func(text string) { told = text }}, obj, "")
	if left := obj.Object["metadata"].(map[string]any)["ownerReferences"].([]any); len(left) != len(refs) || !strings.HasSuffix(told, "observed: a") {
		t.Errorf("%d are left, told %q", len(left), told)
	}
}
