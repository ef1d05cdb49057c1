package versionpriority_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/versionpriority"
	"github.com/wasmgate/wasmgate/plugins"
)

// twoVersions is a gateway where each group serves two versions.
type twoVersions struct{}

func (twoVersions) Versions(context.Context, string) ([]string, error) {
	return []string{"v1", "v1beta1"}, nil
}

// A group is ordered by the module that its object names, whatever happens to who
// asks the module.
func TestOrderWhateverHappens_WP03(t *testing.T) {
	var modules *fakeModules
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			modules = &fakeModules{by: map[string]plugins.Status{}, fails: map[string]error{}}
			modules.serve("m", "backwards", plugins.Prioritize)
			o := controllertest.New(controllertest.ServedCronTabs)
			controllertest.MustCreate(t, o, gvr.Modules, controllertest.ObjectTree("", "m"))
			controllertest.MustCreate(t, o, gvr.Priorities, map[string]any{"metadata": map[string]any{"name": "one"},
				"spec": map[string]any{"groups": []any{"example.com"}, "module": "m"}})
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{versionpriority.New(s, modules, twoVersions{})}
		},
		Main: controller.Key{GroupResource: gvr.Priorities, Name: "one"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, gvr.Priorities, "", "one")
			groups, _, _ := unstructured.NestedSlice(obj.Object, "status", "groups")
			accepted, _, _ := controllertest.Condition(obj, "Accepted")
			ready, _, _ := controllertest.Condition(obj, "Ready")
			return fmt.Sprint("accepted ", accepted, ", ready ", ready, " ", groups)
		},
		Want: "accepted True, ready True [map[group:example.com versions:[v1beta1 v1]]]",
	}.Tell(t)
}
