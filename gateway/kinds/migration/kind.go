package migration

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of StorageVersionMigrations, of which the gateway makes some itself.
func Kind(c kinds.Config) kinds.Kind {
	contents := map[schema.GroupResource]string{}
	if c.Options.EncryptionProviderConfig != "" { // else nothing is ever stale
		contents[gvr.Modules] = module.ContentRoot(c.Options.EtcdPrefix)
	}
	return kinds.Kind{Serve: kinds.Runs(func(e *engine.Engine) []kinds.Controller {
		objects, passes := local.Part(e, "migrations"), Passes{Catalog: e.Catalog(), Store: c.Store, Metrics: c.Metrics, Contents: contents}
		return []kinds.Controller{
			{Switch: options.StorageVersionMigrator, Controller: New(objects, passes, passes)},
			{Switch: options.StorageVersionMigrator, Controller: NewAuto(objects)},
		}
	})}
}
