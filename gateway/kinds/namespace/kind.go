package namespace

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of namespaces: some are made at the start, and all are emptied before
// they go.
func Kind(c kinds.Config) kinds.Kind {
	return kinds.Kind{
		Admission: func(e *engine.Engine, _ authz.Decider) ([]admission.Plugin, error) {
			return []admission.Plugin{plugin.NamespaceAutoProvision{Objects: local.Part(e, "namespaces")}, plugin.NamespaceLifecycle{}, plugin.NamespaceExists{}, plugin.AlwaysAdmit{}}, nil
		},
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			objects := local.Part(e, "namespaces")
			stored := leftovers.Objects{Store: c.Store, Prefix: c.Options.EtcdPrefix + "/"}
			gone := leftovers.Gone{Store: c.Store, Root: "/wasmgate" + c.Options.EtcdPrefix + "/gone/"}
			return kinds.Served{
				Starts: []kinds.Start{{Name: "bootstrap-namespaces", First: true, Run: func(ctx context.Context, _ string, _ func(func())) error {
					if err := EnsureSystem(ctx, objects); err != nil {
						return fmt.Errorf("creating the system namespaces: %w", err)
					}
					return nil
				}}},
				Controllers: func() []kinds.Controller {
					emptying := local.Part(e, "controllers")
					return []kinds.Controller{
						{Controller: NewBootstrap(objects)},
						{Switch: options.Namespaces, Controller: NewFinalizer(emptying, emptying, stored, gone)},
					}
				},
			}, nil
		},
	}
}
