package rbac_test

import (
	"errors"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac"
)

// Whatever call fails while roles are aggregated, that is told, and another run gives them
// their rules; a change of one role has all looked at.
func TestFailuresOfAggregationAreTold(t *testing.T) {
	all := controller.Key{GroupResource: gvr.ClusterRoles}
	controllertest.EachCallFails(t, 3, func() controllertest.Engine {
		o := controllertest.New(&crd.Definition{Group: gvr.ClusterRoles.Group, Plural: gvr.ClusterRoles.Resource, Kind: "ClusterRole", StorageVersion: "v1", KeyPrefix: "clusterroles"})
		controllertest.MustCreate(t, o, gvr.ClusterRoles, role("part", map[string]any{"to-a": "true", "to-b": "true"}, "", "things"))
		controllertest.MustCreate(t, o, gvr.ClusterRoles, role("a", nil, "to-a"))
		controllertest.MustCreate(t, o, gvr.ClusterRoles, role("b", nil, "to-b"))
		return o
	}, func(f *controllertest.Failing) error {
		return rbac.NewAggregation(f).Reconcile(t.Context(), nil, all)
	}, func(f *controllertest.Failing) error {
		for _, name := range []string{"a", "b"} {
			if rules, _ := controllertest.MustGet(t, f.Engine, gvr.ClusterRoles, "", name).Object["rules"].([]any); len(rules) != 1 {
				return errors.New(name + " does not have its rules")
			}
		}
		return nil
	})
}
