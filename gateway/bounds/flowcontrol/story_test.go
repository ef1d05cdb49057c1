package flowcontrol_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/bounds/flowcontrol"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// What every cluster has comes to be there, and each schema says that its level is.
func TestWhatEveryClusterHasWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			var served []*crd.Definition
			for gr, kind := range map[schema.GroupResource]string{gvr.FlowSchemas: "FlowSchema", gvr.PriorityLevels: "PriorityLevelConfiguration"} {
				served = append(served, &crd.Definition{Group: gr.Group, Plural: gr.Resource, Kind: kind, StorageVersion: "v1", KeyPrefix: gr.Resource})
			}
			o := controllertest.New(served...)
			controllertest.MustCreate(t, o, gvr.FlowSchemas, schemaOf("mine", "workload-low"))
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{flowcontrol.NewKeeper(s)}
		},
		Main: controller.Key{GroupResource: gvr.FlowSchemas, Name: "mine"},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			levels, err := o.List(t.Context(), gvr.PriorityLevels, "")
			if err != nil {
				t.Error(err)
			}
			schemas, err := o.List(t.Context(), gvr.FlowSchemas, "")
			if err != nil {
				t.Error(err)
			}
			found := 0
			for _, s := range schemas {
				if status, reason, _ := controllertest.Condition(s, "Dangling"); status+" "+reason == "False Found" {
					found++
				}
			}
			return fmt.Sprintf("%d levels, %d schemas, of %d the level is there", len(levels), len(schemas), found)
		},
		Want: "8 levels, 12 schemas, of 12 the level is there",
	}.Tell(t)
}
