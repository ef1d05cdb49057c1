package all

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac"
	"github.com/wasmgate/wasmgate/gateway/kinds/rbac/inforce"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// roles are what every cluster begins with, aggregated, and in force once they are
// written.
func (c Config) roles() kinds.Kind {
	if !c.has(gvr.ClusterRoles) {
		return kinds.Kind{}
	}
	return kinds.Kind{Extend: inForce, Serve: func(e *kinds.Engine) (kinds.Served, error) {
		objects := as(e, "rbac")
		return kinds.Served{
			Starts: []kinds.Start{{Name: "rbac/bootstrap-roles", Run: func(ctx context.Context, _ string, _ func(func())) error {
				for {
					err := c.ensureRoles(ctx, objects)
					if err == nil {
						return nil
					}
					// Who is let in by its certificate can mend what is in the way.
					c.Log.Error().Err(err).Str("component", "rbac").Msg("the roles of the beginning are not all there yet")
					if !controller.Pause(ctx, rbac.Again) {
						return nil
					}
				}
			}}},
			Controllers: func() []kinds.Controller {
				return []kinds.Controller{{Switch: options.ClusterRoleAggregation, Controller: rbac.NewAggregation(objects)}}
			},
		}, nil
	}}
}

// ensureRoles makes what there is from the beginning, so that whoever is bound to it
// may do what it says once the gateway is ready.
func (c Config) ensureRoles(ctx context.Context, objects local.Client) error {
	if err := rbac.Ensure(ctx, objects, rbac.Bootstrap()); err != nil {
		return fmt.Errorf("create or update them: %w", err)
	}
	if !c.Options.Runs(options.ClusterRoleAggregation) {
		return nil
	}
	if err := objects.Fresh(ctx); err != nil {
		return err
	}
	return rbac.Aggregate(ctx, objects)
}

// inForce lets writes wait for what they say to be in force.
func inForce(d *crd.Definition) {
	d.InForce = d.InForce || d.Group == rbacv1.GroupName && slices.Contains(inforce.Kinds, d.Plural)
}
