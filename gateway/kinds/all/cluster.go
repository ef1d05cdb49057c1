package all

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/wasmgate/wasmgate/admission/policy"
	definitions "github.com/wasmgate/wasmgate/crd/definition"
	"github.com/wasmgate/wasmgate/gateway/admitting"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration"
	"github.com/wasmgate/wasmgate/gateway/kinds/migration/rewrite"
	"github.com/wasmgate/wasmgate/gateway/kinds/namespace"
	policystatus "github.com/wasmgate/wasmgate/gateway/kinds/policy"
	"github.com/wasmgate/wasmgate/gateway/kinds/quota/recount"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// namespaces are made at the start, and emptied before they go.
func (c Config) namespaces() kinds.Kind {
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		objects := as(e, "namespaces")
		gone := leftovers.Gone{Store: c.Store, Root: "/wasmgate" + c.Options.EtcdPrefix + "/gone/"}
		return kinds.Served{
			Starts: []kinds.Start{{Name: "bootstrap-namespaces", First: true, Run: func(ctx context.Context, _ string, _ func(func())) error {
				if err := namespace.EnsureSystem(ctx, as(e, "controllers")); err != nil {
					return fmt.Errorf("creating the system namespaces: %w", err)
				}
				return nil
			}}},
			Controllers: func() []kinds.Controller {
				return []kinds.Controller{
					{Controller: namespace.NewBootstrap(objects)},
					{Switch: options.Namespaces, Controller: namespace.NewFinalizer(objects, objects, c.leftovers(), gone)},
				}
			},
		}, nil
	}}
}

// definitions are CustomResourceDefinitions: their conditions, and their end.
func (c Config) definitions() kinds.Kind {
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		objects := as(e, "definitions")
		return kinds.Served{Controllers: func() []kinds.Controller {
			return []kinds.Controller{
				{Controller: definition.NewStatus(objects, definitions.Conditions)},
				{Controller: definition.NewFinalizer(objects, objects, c.leftovers())},
			}
		}}, nil
	}}
}

// migrations rewrite what is stored.
func (c Config) migrations() kinds.Kind {
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		objects, served := as(e, "migrations"), e.Catalog()
		return kinds.Served{Controllers: func() []kinds.Controller {
			return []kinds.Controller{
				{Switch: options.StorageVersionMigrator, Controller: migration.New(objects, rewrite.Rewriter{Catalog: served, Store: c.Store, Metrics: c.Metrics}, rewrite.Serving{Catalog: served})},
				{Switch: options.StorageVersionMigrator, Controller: migration.NewAuto(objects)},
			}
		}}, nil
	}}
}

// policies are told which of their expressions do not fit what they match.
func (c Config) policies() kinds.Kind {
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		check := func(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error) {
			return policy.Check(p, admitting.Types{Catalog: e.Catalog()})
		}
		return kinds.Served{Controllers: func() []kinds.Controller {
			return []kinds.Controller{
				{Switch: options.ValidatingAdmissionPolicyStatus, Controller: policystatus.New(as(e, "admission"), check)},
			}
		}}, nil
	}}
}

// quotas are counted again now and then.
func (c Config) quotas() kinds.Kind {
	if !c.has(gvr.Quotas) {
		return kinds.Kind{}
	}
	return kinds.Kind{Serve: func(e *kinds.Engine) (kinds.Served, error) {
		return kinds.Served{Controllers: func() []kinds.Controller {
			return []kinds.Controller{{Switch: options.ResourceQuotas, Controller: recount.New(as(e, "quotas"))}}
		}}, nil
	}}
}
