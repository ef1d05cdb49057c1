package write

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// manyKeys is the data of a ConfigMap that can be stored, though not together with the
// managedFields of it.
func manyKeys() string {
	var data strings.Builder
	for i := range 9999 {
		fmt.Fprintf(&data, `"this-key-is-so-long-that-the-names-of-all-fields-take-about-as-much-again-%d":"A",`, i)
	}
	return "{" + strings.TrimSuffix(data.String(), ",") + "}"
}

// What is too large to be stored for the managedFields that come with it alone is stored
// without, whoever writes it; an apply is refused instead.
func TestWhatIsTooLargeIsStoredWithoutOwners(t *testing.T) {
	w := newWorld(t)
	large := `"data":` + manyKeys()
	whole := func(name, rest string) []byte {
		return []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"},` + rest + `}`)
	}
	as := resource.WriteOptions{Caller: resource.Caller{FieldManager: "m"}}
	for how, write := range map[string]func(t resource.Target) (*resource.Written, error){
		"update": func(t resource.Target) (*resource.Written, error) {
			return w.Update(w.ctx(), t, whole("update", large), as)
		},
		"patch": func(t resource.Target) (*resource.Written, error) {
			return w.Patch(w.ctx(), t, types.MergePatchType, []byte("{"+large+"}"), as)
		},
	} {
		w.must(w.Create(w.ctx(), w.builtin("configmaps", "default", ""), whole(how, `"data":{"a":"b"}`), as))
		target := w.builtin("configmaps", "default", how)
		got := w.must(write(target))
		if data := got.Object["data"].(map[string]any); len(data) < 9999 || owners(got) != "" {
			t.Errorf("%s: %d keys of %q", how, len(data), owners(got))
		}
		if kept := w.read(target); owners(kept) != "" || kept.GetResourceVersion() != got.GetResourceVersion() {
			t.Errorf("%s: kept with %q", how, owners(kept))
		}
	}
	made := w.must(w.Create(w.ctx(), w.builtin("configmaps", "default", ""), whole("create", large), as))
	if owners(made) != "" {
		t.Errorf("created with %q", owners(made))
	}
	target := w.builtin("configmaps", "default", "create")
	_, err := w.apply(target, "applier", `"metadata":{"name":"create"},"data":{"mine":"1"}`)
	refused(t, err, 413, "RequestEntityTooLarge", "the object is too large to be stored")
	_, err = w.Create(w.ctx(), w.builtin("configmaps", "default", ""), whole("never", large[:len(large)-1]+`,"more":"`+strings.Repeat("x", 900_000)+`"}`), as)
	refused(t, err, 413, "RequestEntityTooLarge", "the object is too large to be stored")
}
