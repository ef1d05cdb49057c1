package admitting

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestTypesAreThoseOfWhatIsServed(t *testing.T) {
	w := newWorld(t)
	types := Types{w.Catalog()}
	for r, want := range map[schema.GroupVersionResource]string{
		{Version: "v1", Resource: "configmaps"}:                          "ConfigMap",
		{Group: "example.com", Version: "v1beta1", Resource: "crontabs"}: "CronTab",
		{Group: "example.com", Version: "v9", Resource: "crontabs"}:      "",
		{Group: "example.com", Version: "v1", Resource: "nobodies"}:      "",
	} {
		kind, served := types.Kind(r)
		if kind.Kind != want || served != (want != "") || served && kind.Version != r.Version {
			t.Errorf("%v: %v, %v", r, kind, served)
		}
	}
	for kind, fields := range map[schema.GroupVersionKind][]string{
		{Version: "v1", Kind: "ConfigMap"}:                          {"apiVersion", "kind", "metadata", "data", "binaryData"},
		{Group: "example.com", Version: "v1beta1", Kind: "CronTab"}: {"metadata", "hostPort"},
	} {
		s := types.Schema(kind)
		for _, f := range fields {
			if _, ok := s.Properties[f]; !ok {
				t.Errorf("%v has no %s", kind, f)
			}
		}
		if s.Properties["metadata"].Properties["labels"].Type != "object" {
			t.Errorf("%v: metadata %v", kind, s.Properties["metadata"])
		}
	}
	if s := types.Schema(schema.GroupVersionKind{Version: "v1", Kind: "Nobody"}); s != nil {
		t.Errorf("got %v", s)
	}
}
