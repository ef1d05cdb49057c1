package admitting

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// kube-apiserver asks about each object of a collection, and knows of no name
// but that in the old object, as the request gave none.
func TestADeletionOfACollectionNamesNoObject_VERB04_WP02(t *testing.T) {
	w := newWorld(t)
	w.configure("validating", "v", "", "v1", "configmaps", "")
	w.configure("mutating", "m", "", "v1", "configmaps", `"matchConditions":[{"name":"unnamed","expression":"request.?name.orValue('') == '' && oldObject.metadata.name != ''"}],`)
	for _, name := range []string{"a", "b"} {
		w.create("", "configmaps", "", `{"metadata":{"name":"`+name+`"}}`)
	}
	w.settled()
	w.sent = nil
	err := w.DeleteCollection(t.Context(), w.target("", "configmaps", "", ""), &internalversion.ListOptions{}, &metav1.DeleteOptions{}, alice,
		func(*resource.List) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	var olds []string
	for _, sent := range w.sent {
		if name, ok := sent["name"]; ok || sent["namespace"] != "default" || sent["operation"] != "DELETE" {
			t.Errorf("name %v in %v", name, sent)
		}
		olds = append(olds, fmt.Sprint(field(sent, "oldObject", "metadata", "name")))
	}
	if slices.Sort(olds); fmt.Sprint(olds) != "[a a b b]" {
		t.Errorf("asked about %v", olds)
	}
}
