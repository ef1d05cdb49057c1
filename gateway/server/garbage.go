package server

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller/garbage"
	"github.com/wasmgate/wasmgate/gateway/kinds/definition/leftovers"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// collectors makes garbage collectors for a gateway, which write at most rate
// times in a second.
type collectors struct {
	*gateway
	rate int
}

// New returns the collector of objects.
func (g collectors) New(objects local.Client) *garbage.Collector {
	return garbage.New(garbage.Options{
		Objects: objects, Source: feeds{objects}, Metrics: g.metrics, Rate: g.rate,
		Stored: leftovers.Objects{Store: g.store, Prefix: g.options.EtcdPrefix + "/"},
		Log:    g.log.With().Str("controller", "garbage-collector").Logger(),
	})
}

// feeds are the engine's feeds, as the garbage collector wants them.
type feeds struct{ local.Client }

// Feed implements [garbage.Source].
func (f feeds) Feed(gr schema.GroupResource) (garbage.Feed, error) { return f.Client.Feed(gr) }
