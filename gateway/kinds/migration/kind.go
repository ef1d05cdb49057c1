package migration

import (
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of StorageVersionMigrations, of which the gateway makes some itself.
func Kind(c kinds.Config) kinds.Kind {
	return kinds.Kind{Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
		objects, passes := local.Part(e, "migrations"), Passes{Catalog: e.Catalog(), Store: c.Store, Metrics: c.Metrics}
		return []kinds.Controller{
			{Switch: options.StorageVersionMigrator, Controller: New(objects, passes, passes)},
			{Switch: options.StorageVersionMigrator, Controller: NewAuto(objects)},
		}
	})}
}
