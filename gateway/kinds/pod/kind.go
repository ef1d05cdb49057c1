package pod

import (
	"fmt"
	"net/http"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/admission/plugin"
	"github.com/wasmgate/wasmgate/admission/plugin/podsecurity"
	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/authz"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource"
	"github.com/wasmgate/wasmgate/gateway/resource/engine"
	"github.com/wasmgate/wasmgate/gateway/resource/local"
)

// Kind is that of pods, which are bound and evicted, and connected to.
func Kind(c kinds.Config) kinds.Kind {
	if !c.Has(kind) {
		return kinds.Kind{}
	}
	return kinds.Kind{
		Admission: func(e *engine.Engine, may authz.Decider) ([]admission.Plugin, error) {
			all, err := plugins(c, local.Part(e, "pods"))
			return append(all, DeviceStatus{may}), err
		},
		Serve: func(e *engine.Engine) (kinds.Served, error) {
			of := func(caller resource.Caller) Objects { return local.New(e, caller) }
			at := func(name string) api.ContentPath { return api.ContentPath{GroupResource: kind, Subresource: name} }
			questions := map[api.ContentPath]api.Question{at("log"): {Verb: "get", Code: http.StatusOK, Answer: Log(of)}}
			for name, answer := range Created(of, e) {
				questions[at(name)] = api.Question{Verb: "create", Code: http.StatusCreated, Answer: answer}
			}
			questions[api.ContentPath{GroupResource: bindings}] = questions[at("binding")]
			connections := map[api.ContentPath]api.Connection{}
			for name, c := range Connections(of, e) {
				connections[at(name)] = c
			}
			return kinds.Served{Questions: questions, Connections: connections}, nil
		},
	}
}

// plugins are those about pods, and the nodes that pods are on.
func plugins(c kinds.Config, objects local.Client) ([]admission.Plugin, error) {
	release := c.Options.Release()
	security, err := podsecurity.New(c.Guards.Configuration(order.PodSecurity), [2]int{release.Major, release.Minor}, objects)
	if err != nil {
		return nil, fmt.Errorf("--admission-control-config-file: %s: %w", order.PodSecurity, err)
	}
	metrics.Register(podsecurity.Recorder)
	c.Metrics.IncludeLibrary("pod_security_")
	selector, err := plugin.NewPodNodeSelector(c.Guards.Configuration(order.PodNodeSelector))
	if err != nil {
		return nil, fmt.Errorf("--admission-control-config-file: %s: %w", order.PodNodeSelector, err)
	}
	restriction, err := plugin.NewPodTolerationRestriction(c.Guards.Configuration(order.PodTolerationRestriction))
	if err != nil {
		return nil, fmt.Errorf("--admission-control-config-file: %s: %w", order.PodTolerationRestriction, err)
	}
	return []admission.Plugin{
		selector, restriction, plugin.ExtendedResourceToleration{}, plugin.LimitPodHardAntiAffinity{},
		plugin.DeviceAdmin{Namespaces: objects}, plugin.DefaultTolerationSeconds{NotReady: c.Options.NotReadySeconds, Unreachable: c.Options.UnreachableSeconds}, plugin.RuntimeClass{Classes: objects}, plugin.Priority{Classes: objects},
		plugin.TaintNodesByCondition{}, plugin.PodTopologyLabels{Nodes: objects}, plugin.AlwaysPullImages{}, security,
	}, nil
}
