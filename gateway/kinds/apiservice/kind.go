package apiservice

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/aggregator"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of APIServices.
func Kind(c kinds.Config) kinds.Kind {
	if !c.Has(gvr.APIServices) {
		return kinds.Kind{}
	}
	return kinds.Kind{Serve: func(e *engine.Engine) (kinds.Served, error) {
		objects := local.Part(e, "apiservices")
		servers := aggregator.New(aggregator.Config{
			Objects: objects, Certificate: c.ProxyCertificate, ByEndpoints: c.Options.Proxy.ByEndpoints,
			Here: strings.TrimPrefix(c.URL, "https://"), Believed: believed(c), Log: c.Log.With().Str("component", "aggregator").Logger(),
		})
		return kinds.Served{
			Elsewhere: servers, Others: servers.Others,
			Starts: []kinds.Start{{Name: "kube-apiserver-autoregistration", Run: func(ctx context.Context, _ string, _ func(func())) error {
				return Start(ctx, objects, builtin(c))
			}}, {Name: "apiservice-registration-controller", Run: func(ctx context.Context, _ string, work func(func())) error {
				if err := servers.Load(ctx); err != nil {
					return err
				}
				work(func() { follow(ctx, servers, c) })
				work(func() { servers.Discover(ctx) })
				work(func() { servers.Describe(ctx) })
				return nil
			}}, {Name: "start-cluster-authentication-info-controller", Run: func(ctx context.Context, _ string, work func(func())) error {
				trusted := NewAuthentication(objects, c.Options, c.ProxyTrust, c.ClientAuthorities)
				keep := func() {
					if err := trusted.Keep(ctx); err != nil && ctx.Err() == nil {
						c.Log.Warn().Err(err).Str("component", "aggregator").Msg("whom extension servers may believe is not written")
					}
				}
				keep()
				work(func() {
					for controller.Pause(ctx, 10*time.Second) {
						keep()
					}
				})
				return nil
			}}},
			Controllers: func() []kinds.Controller {
				out := []kinds.Controller{{Controller: NewRegistration(objects)}}
				if c.Has(services) && c.Has(endpointSlices) {
					out = append(out, kinds.Controller{Controller: aggregator.NewAvailability(servers, c.Metrics.Aggregator)})
				}
				return out
			},
		}, nil
	}}
}

// believed are the headers that extension servers read to believe, by the ConfigMap.
func believed(c kinds.Config) aggregator.Believed {
	p := c.Options.Proxy
	return aggregator.Believed{Names: slices.Concat(p.UsernameHeaders, p.UIDHeaders, p.GroupHeaders), Prefixes: p.ExtraHeaderPrefixes}
}

var (
	services       = schema.GroupResource{Resource: "services"}
	endpointSlices = schema.GroupResource{Group: "discovery.k8s.io", Resource: "endpointslices"}
)

// follow has servers learn of changes until ctx ends.
func follow(ctx context.Context, servers *aggregator.Servers, c kinds.Config) {
	for {
		if err := servers.Follow(ctx); err != nil && ctx.Err() == nil {
			c.Log.Error().Err(err).Str("component", "aggregator").Msg("APIServices are not followed")
		}
		if !controller.Pause(ctx, time.Second) {
			return
		}
	}
}

// builtin are the versions of built-in kinds that are served, but for that of
// APIServices themselves, of which there is none.
func builtin(c kinds.Config) []schema.GroupVersion {
	all := []schema.GroupVersion{{Group: gvr.Definitions.Group, Version: "v1"}}
	for _, d := range c.Definitions {
		for _, v := range d.Versions {
			if at := d.GVK(v.Name).GroupVersion(); v.Served && at.Group != gvr.APIServices.Group {
				all = append(all, at)
			}
		}
	}
	slices.SortFunc(all, func(a, b schema.GroupVersion) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version))
	})
	return slices.Compact(all)
}
