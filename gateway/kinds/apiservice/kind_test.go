package apiservice

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/aggregator"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest/realengine"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// The steps of the start register what is built in, load what others serve and write whom
// these believe; what goes on afterwards goes on as work.
func TestTheStartOfAPIServices(t *testing.T) {
	e := realengine.Start(t)
	controllertest.MustCreate(t, e, gvr.Namespaces, controllertest.NamespaceTree("kube-system"))
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := kinds.Config{Options: options.Default(), Metrics: metrics.New()}
	for _, gr := range []schema.GroupResource{gvr.APIServices, services, endpointSlices} {
		c.Definitions = append(c.Definitions, &crd.Definition{Group: gr.Group, Plural: gr.Resource, Versions: []*crd.Version{{Name: "v1", Served: true}}})
	}
	served, err := Kind(c).Serve(e.Verbs)
	if err != nil {
		t.Fatal(err)
	}
	var work []int
	for _, s := range served.Starts {
		n := 0
		if err := s.Run(t.Context(), "here", func(func()) { n++ }); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		work = append(work, n)
	}
	if err := e.Fresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(work) != 3 || work[0] != 0 || work[1] != 3 || work[2] != 1 {
		t.Errorf("%v go on", work)
	}
	for _, name := range []string{"v1.", "v1.discovery.k8s.io", "v1.apiextensions.k8s.io"} {
		if controllertest.Gone(e, gvr.APIServices, "", name) {
			t.Errorf("%s is not registered", name)
		}
	}
	if !controllertest.Gone(e, gvr.APIServices, "", "v1.apiregistration.k8s.io") || controllertest.Gone(e, configMaps, "kube-system", authentication) {
		t.Error("that of APIServices themselves is registered, or it is not written whom to believe")
	}
}

// Who looks at whether other servers are there needs Services and EndpointSlices.
func TestWhatIsKeptOfAPIServices(t *testing.T) {
	e := realengine.Start(t)
	for what, c := range map[string]struct {
		served []schema.GroupResource
		want   string
	}{
		"everything":        {[]schema.GroupResource{gvr.APIServices, services, endpointSlices}, "crd-registration apiservice-status-available"},
		"no EndpointSlices": {[]schema.GroupResource{gvr.APIServices, services}, "crd-registration"},
		"no Services":       {[]schema.GroupResource{gvr.APIServices, endpointSlices}, "crd-registration"},
		"no APIServices":    {[]schema.GroupResource{services, endpointSlices}, ""},
	} {
		config := kinds.Config{Options: options.Default(), Metrics: metrics.New()}
		for _, gr := range c.served {
			config.Definitions = append(config.Definitions, &crd.Definition{Group: gr.Group, Plural: gr.Resource})
		}
		k := Kind(config)
		if (k.Serve != nil) != (c.want != "") {
			t.Errorf("%s: %+v", what, k)
			continue
		}
		if k.Serve == nil {
			continue
		}
		served, err := k.Serve(e.Verbs)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range served.Controllers() {
			names = append(names, one.Name())
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// away are objects whose changes cannot be followed.
type away struct {
	aggregator.Objects
	asked int
}

func (a *away) Follow(context.Context, schema.GroupResource, func(string, string)) error {
	a.asked++
	return errors.New("the store is away")
}

// While APIServices cannot be followed that is told and tried again, until the end.
func TestAPIServicesAreFollowedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		o := &away{}
		ctx, stop := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer stop()
		follow(ctx, aggregator.New(aggregator.Config{Objects: o}), kinds.Config{Log: zerolog.New(&lines)})
		if n := strings.Count(lines.String(), "APIServices are not followed"); o.asked != 3 || n != 3 || ctx.Err() == nil {
			t.Errorf("asked %d times, told %d times, %v", o.asked, n, ctx.Err())
		}
	})
}
