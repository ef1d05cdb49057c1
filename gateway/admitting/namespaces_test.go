package admitting

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Who selects by a namespace's labels selects Namespaces themselves by theirs: by
// the new ones, and by those that there are of one that goes.
func TestNamespacesAreSelectedByTheirOwnLabels_WP02(t *testing.T) {
	w := newWorld(t)
	w.configure("validating", "v", "", "v1", "namespaces", `"namespaceSelector":{"matchExpressions":[{"key":"exempt","operator":"DoesNotExist"}]},`)
	w.answer = func(string, map[string]any) string { return `"allowed":false` }
	const exempt = `"labels":{"exempt":"yes"}`
	for body, refused := range map[string]bool{
		`{"metadata":{"name":"judged"}}`: true, `{"metadata":{"generateName":"judged-"}}`: true,
		`{"metadata":{"name":"exempt",` + exempt + `}}`: false, `{"metadata":{"generateName":"exempt-",` + exempt + `}}`: false,
	} {
		if _, err := w.try("", "namespaces", "", body, alice); (err != nil) != refused {
			t.Errorf("creating %s: %v", body, err)
		}
	}
	w.settled()
	for _, step := range []struct {
		labels  string
		refused bool
	}{{`{"exempt":null}`, true}, {`{"a":"b"}`, false}} {
		_, err := w.Patch(t.Context(), w.target("", "namespaces", "", "exempt"), types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":%s}}`, step.labels), alice)
		if (err != nil) != step.refused {
			t.Errorf("labels become %s: %v", step.labels, err)
		}
	}
	for name, refused := range map[string]bool{"exempt": false, "default": true} {
		if _, err := w.Delete(t.Context(), w.target("", "namespaces", "", name), &metav1.DeleteOptions{}, alice); (err != nil) != refused {
			t.Errorf("deleting %s: %v", name, err)
		}
	}
}
