package rbac

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/authz/rbac"
	"github.com/wasmgate/wasmgate/gateway/catalog"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac/escalation"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac/inforce"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of roles and bindings: those that every cluster begins with, aggregated,
// and in force once they are written.
func Kind(c kinds.Config) kinds.Kind {
	authorizer := func(served *catalog.Catalog) authz.Decider {
		return rbac.Authorizer{Source: inforce.New(served, c.Log)}
	}
	owners := func(e *engine.Engine, may authz.Decider) ([]admission.Plugin, error) {
		return []admission.Plugin{escalation.Owners{May: may, Served: func() []*crd.Definition { return e.Catalog().Snapshot().Definitions }}}, nil
	}
	if !c.Has(gvr.ClusterRoles) {
		return kinds.Kind{Authorizer: authorizer, Admission: owners}
	}
	return kinds.Kind{
		Extend: inForce,
		Admission: func(e *engine.Engine, may authz.Decider) ([]admission.Plugin, error) {
			all, err := owners(e, may)
			return append(all, escalation.Guard{May: may, Roles: local.Part(e, "rbac")}), err
		},
		Authorizer: authorizer,
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			objects := local.Part(e, "rbac")
			return kinds.Served{
				Starts: []kinds.Start{{Name: "rbac/bootstrap-roles", Run: func(ctx context.Context, _ string, _ func(func())) error {
					controller.Until(ctx, Again, func(ctx context.Context) error { return begin(ctx, c, objects) }, func(err error) {
						// Who is let in by its certificate can mend what is in the way.
						c.Log.Error().Err(err).Str("component", "rbac").Msg("the roles of the beginning are not all there yet")
					})
					return nil
				}}},
				Controllers: func() []kinds.Controller {
					return []kinds.Controller{{Switch: options.ClusterRoleAggregation, Controller: NewAggregation(objects)}}
				},
			}, nil
		},
	}
}

// begin makes what there is from the beginning, so that whoever is bound to it may do
// what it says once the gateway is ready.
func begin(ctx context.Context, c kinds.Config, objects local.Client) error {
	if err := Ensure(ctx, objects, Bootstrap()); err != nil {
		return fmt.Errorf("create or update them: %w", err)
	}
	if !c.Options.Runs(options.ClusterRoleAggregation) {
		return nil
	}
	return AggregateFresh(ctx, objects)
}

// inForce lets writes wait for what they say to be in force.
func inForce(d *crd.Definition) {
	d.InForce = d.InForce || d.Group == rbacv1.GroupName && slices.Contains(inforce.Kinds, d.Plural)
}
