package rbac_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/rs/zerolog"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	gatewaykinds "github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/storage/storagetest"
)

// config is that of a gateway with ClusterRoles.
func config(o options.Serve) gatewaykinds.Config {
	return gatewaykinds.Config{Options: o, Log: zerolog.Nop(), Definitions: []*crd.Definition{{Group: gvr.ClusterRoles.Group, Plural: gvr.ClusterRoles.Resource}}}
}

// Writes wait for what they say to be in force where that is roles or bindings, and where
// others want it.
func TestWhatIsInForceOnceWritten(t *testing.T) {
	for _, c := range []struct {
		group, plural string
		before, want  bool
	}{
		{rbacv1.GroupName, "clusterroles", false, true}, {rbacv1.GroupName, "rolebindings", false, true}, {rbacv1.GroupName, "others", false, false},
		{"", "roles", false, false}, {"example.com", "things", false, false}, {"example.com", "things", true, true},
	} {
		d := &crd.Definition{Group: c.group, Plural: c.plural, InForce: c.before}
		if rbac.Kind(config(options.Default())).Extend(d); d.InForce != c.want {
			t.Errorf("%+v: %v", c, d.InForce)
		}
	}
	if k := rbac.Kind(gatewaykinds.Config{}); k.Extend != nil || k.Serve != nil || k.Authorizer == nil || k.Admission == nil {
		t.Errorf("without ClusterRoles: %+v", k)
	}
}

// A gateway is ready with the roles of the beginning, and what they aggregate, unless nobody
// aggregates.
func TestRolesAreThereOnceAGatewayIsReady(t *testing.T) {
	for _, aggregates := range []bool{true, false} {
		o := options.Default()
		if !aggregates {
			o.Controllers = append([]string{"-" + options.ClusterRoleAggregation}, o.Controllers...)
		}
		e := realengine.Over(t, storagetest.NewMemory(), nil)
		if err := namespace.EnsureSystem(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		k := rbac.Kind(config(o))
		served, err := k.Serve(e.Verbs)
		if err != nil || len(served.Starts) != 1 || served.Starts[0].Name != "rbac/bootstrap-roles" {
			t.Fatalf("%+v, %v", served, err)
		}
		if err := served.Starts[0].Run(t.Context(), "here", nil); err != nil {
			t.Fatal(err)
		}
		if role := get[rbacv1.ClusterRole](t, e, gvr.ClusterRoles, "", "view"); (len(role.Rules) > 0) != aggregates || role.AggregationRule == nil {
			t.Errorf("aggregated: %v, and view has %d rules", aggregates, len(role.Rules))
		}
		if all := served.Controllers(); len(all) != 1 || all[0].Switch != options.ClusterRoleAggregation {
			t.Errorf("the controllers are %+v", all)
		}
		if plugins, err := k.Admission(e.Verbs, nil); err != nil || len(plugins) != 2 {
			t.Errorf("%d plugins, %v", len(plugins), err)
		}
	}
}
