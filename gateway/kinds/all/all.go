// Package all owns the list of kinds that are more than stored: it makes each of
// what the gateway has.
//
// It must not know what a kind does with it, nor in which order the gateway
// starts.
package all

import (
	"slices"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/health"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/calls"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/host"
	modulelog "github.com/wasmgate/wasmgate/gateway/kinds/module/log"
	"github.com/wasmgate/wasmgate/gateway/kinds/service"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
	"github.com/wasmgate/wasmgate/storage"
)

// Config is what the kinds are made of. All fields but Services are required.
type Config struct {
	Options options.Serve
	// Definitions are the built-in kinds that are served.
	Definitions []*crd.Definition
	// URL is where clients reach this gateway.
	URL         string
	Store       storage.Store
	StoreHealth health.Check
	Modules     *host.Host
	Lines       *modulelog.Logs
	Calls       *calls.Calls
	// Services says which addresses and ports services have; nil where there are none.
	Services *service.Config
	Metrics  *metrics.Metrics
	Log      zerolog.Logger
}

// Kinds are all of them, in the order of their steps of the start.
func Kinds(c Config) []kinds.Kind {
	return []kinds.Kind{
		c.namespaces(), c.definitions(), c.modules(), c.roles(), c.versionPriorities(), c.events(),
		c.migrations(), c.policies(), c.quotas(), c.services(), c.pods(), c.volumes(),
		c.serviceAccounts(), c.accessReviews(), c.componentStatuses(),
	}
}

// has reports whether a built-in kind is served.
func (c Config) has(gr schema.GroupResource) bool {
	return slices.ContainsFunc(c.Definitions, func(d *crd.Definition) bool { return d.GroupResource() == gr })
}

// leftovers are the objects of custom resources, served or not.
func (c Config) leftovers() leftovers.Objects {
	return leftovers.Objects{Store: c.Store, Prefix: c.Options.EtcdPrefix + "/"}
}

// as is the engine for a part of the gateway.
func as(e *kinds.Engine, part string) local.Client { return local.New(e, resource.Component(part)) }
