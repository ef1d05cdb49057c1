package admitting

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An eviction is the creation of an Eviction, whoever does what it wants; it is
// refused and changed as what is stored is.
func TestWhatIsMadeAtASubresourceIsAskedAbout_WP02(t *testing.T) {
	w := newWorld(t)
	w.configure("mutating", "m", "", "v1", "pods/eviction", `"namespaceSelector":{"matchLabels":{"team":"x"}},`)
	w.configure("validating", "v", "", "v1", "pods/eviction", `"matchConditions":[{"name":"evictions","expression":"request.kind.kind == 'Eviction' && object.metadata.labels.seen == 'yes'"}],`)
	w.answer = func(module string, request map[string]any) string {
		if module == "m" {
			return patch(`[{"op":"add","path":"/metadata/labels","value":{"seen":"yes"}}]`)
		}
		if field(request, "object", "metadata", "name") == "kept" {
			return `"allowed":false,"status":{"message":"it stays"}`
		}
		return `"allowed":true`
	}
	kind := schema.GroupVersionKind{Group: "policy", Version: "v1", Kind: "Eviction"}
	for name, want := range map[string]string{"p": "", "kept": `admission webhook "v.example.com" denied the request: it stays`} {
		w.sent = nil
		target := w.target("", "pods", "", name)
		target.Subresource = "eviction"
		dry := alice
		dry.DryRun = true
		tree, err := w.hooks.Made(t.Context(), target, kind, map[string]any{
			"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"name": name, "namespace": "default"},
		}, dry)
		if want == "" && (err != nil || field(tree, "metadata", "labels", "seen") != "yes") || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, %v", name, tree, err)
		}
		if len(w.sent) != 2 {
			t.Fatalf("%s: %d calls", name, len(w.sent))
		}
		got := w.sent[1]
		for path, want := range map[string]string{
			"operation": "CREATE", "name": name, "namespace": "default", "subResource": "eviction", "userInfo.username": "alice", "dryRun": "true", "oldObject": "<nil>",
			"kind": "map[group:policy kind:Eviction version:v1]", "resource": "map[group: resource:pods version:v1]", "options.kind": "CreateOptions",
		} {
			if is := fmt.Sprint(field(got, strings.Split(path, ".")...)); is != want {
				t.Errorf("%s is %s, want %s", path, is, want)
			}
		}
	}
	// Whoever is about pods alone is not asked.
	w.sent = nil
	other := w.target("", "pods", "", "p")
	other.Subresource = "binding"
	if _, err := w.hooks.Made(t.Context(), other, schema.GroupVersionKind{Version: "v1", Kind: "Binding"}, map[string]any{"apiVersion": "v1", "kind": "Binding", "metadata": map[string]any{}}, alice); err != nil || len(w.sent) != 0 {
		t.Errorf("%v, %d calls", err, len(w.sent))
	}
}
