package service

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/kinds"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/options"
)

// configOf is that of a gateway that serves some kinds.
func configOf(served ...schema.GroupResource) kinds.Config {
	c := kinds.Config{Options: options.Default()}
	for _, gr := range served {
		c.Definitions = append(c.Definitions, &crd.Definition{Group: gr.Group, Plural: gr.Resource})
	}
	return c
}

// What is kept of services follows from which kinds are served, and options that say no
// range are refused.
func TestWhatIsKeptOfServices(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	for what, c := range map[string]struct {
		config kinds.Config
		want   string
	}{
		"everything":         {configOf(services, serviceCIDRs, endpoints, parts), "api-service cluster-ips cluster-ip-release kubernetes-service-cidr-controller api-endpoints"},
		"services":           {configOf(services), "api-service cluster-ips cluster-ip-release"},
		"no EndpointSlices":  {configOf(services, endpoints), "api-service cluster-ips cluster-ip-release"},
		"no Endpoints":       {configOf(services, parts, serviceCIDRs), "api-service cluster-ips cluster-ip-release kubernetes-service-cidr-controller"},
		"no services at all": {configOf(serviceCIDRs, endpoints, parts), ""},
	} {
		k := Kind(c.config)
		if (k.Serve != nil) != (c.want != "") || (k.Admission != nil) != (c.want != "") {
			t.Errorf("%s: %+v", what, k)
			continue
		}
		if k.Serve == nil {
			continue
		}
		served, err := k.Serve(w.Engine)
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
	for what, change := range map[string]func(o *options.Serve){
		"addresses": func(o *options.Serve) { o.ServiceClusterIPRange = "x" }, "ports": func(o *options.Serve) { o.ServiceNodePortRange = "x" },
	} {
		c := configOf(services)
		change(&c.Options)
		_, err := Kind(c).Serve(w.Engine)
		_, refused := Kind(c).Admission(w.Engine, nil)
		if err == nil || refused == nil {
			t.Errorf("%s that are none: %v, %v", what, err, refused)
		}
	}
}

// The start of a gateway makes its lease, and has it renewed as long as it runs.
func TestTheStartMakesALease(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	w.must(gvr.Namespaces, "", `{"metadata":{"name":"kube-system"}}`)
	c := configOf(services)
	c.Options.AdvertiseAddress = "192.0.2.1"
	served, err := Kind(c).Serve(w.Engine)
	if err != nil {
		t.Fatal(err)
	}
	renewed := 0
	for _, step := range served.Starts {
		if step.Leave != nil && step.Leave(t.Context()) != nil {
			t.Error("who has not come cannot leave")
		}
		if err := step.Run(t.Context(), "here:6443", func(func()) { renewed++ }); err != nil {
			t.Fatal(err)
		}
	}
	if renewed != 1 {
		t.Fatalf("renewed by %d", renewed)
	}
	w.fresh()
	all, err := w.Client.List(t.Context(), leases, "kube-system")
	if err != nil || len(all) != 1 || !strings.HasPrefix(all[0].GetName(), "apiserver-") {
		t.Fatalf("%v, %v", all, err)
	}
	if l := all[0]; l.GetAnnotations()[reachedAt] != "192.0.2.1:6443" || l.GetLabels()["kubernetes.io/hostname"] != "here" || l.GetLabels()["apiserver.kubernetes.io/identity"] != "kube-apiserver" {
		t.Errorf("%v", l)
	}
}

// Gateways of one hostname and port have a lease each, unless they are reached in the same
// way; the one that comes after itself keeps its own.
func TestGatewaysOfOneNameHaveLeasesOfTheirOwn(t *testing.T) {
	objects := keptObjects(t)
	made := map[string]bool{}
	for n, c := range []struct{ address, trust string }{{"192.0.2.1", "a"}, {"192.0.2.2", "a"}, {"192.0.2.1", "b"}, {"192.0.2.1", "a"}} {
		o := options.Default()
		o.AdvertiseAddress = c.address
		l := NewLease(objects, o, "here:6443", []byte(c.trust))
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		kept, err := objects.Get(t.Context(), leases, "kube-system", l.name)
		if err != nil {
			t.Fatal(err)
		}
		if made[kept.GetName()] = true; len(made) != min(n+1, 3) {
			t.Errorf("after %v there are %v", c, made)
		}
	}
}

// A lease has where its gateway is reached, where that is known, and what it is believed
// by, where that is not too much.
func TestWhatALeaseTells(t *testing.T) {
	for what, c := range map[string]struct {
		address, bind, gateway string
		trust                  int
		reached, host          string
	}{
		"an address":   {"192.0.2.1", "0.0.0.0", "here:6443", 64 << 10, "192.0.2.1:6443", "here"},
		"no port":      {"192.0.2.1", "0.0.0.0", "here", 0, "", "here"},
		"too much":     {"fd00::1", "::", "here:6443", 64<<10 + 1, "[fd00::1]:6443", "here"},
		"one it is at": {"", "192.0.2.7", "here:6443", 1, "192.0.2.7:6443", "here"},
	} {
		o := options.Default()
		o.AdvertiseAddress, o.BindAddress = c.address, c.bind
		objects := keptObjects(t)
		lease := NewLease(objects, o, c.gateway, []byte(strings.Repeat("a", c.trust)))
		if err := lease.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		l, err := objects.Get(t.Context(), leases, "kube-system", lease.name)
		if err != nil {
			t.Fatal(err)
		}
		text, told := l.GetAnnotations()[kinds.AuthoritiesKey]
		if at, reached := l.GetAnnotations()[reachedAt]; at != c.reached || reached != (c.reached != "") || told != (c.trust > 0 && c.trust <= 64<<10) || told && len(text) != c.trust || l.GetLabels()["kubernetes.io/hostname"] != c.host {
			t.Errorf("%s: reached at %q, %d told, %v", what, at, len(text), l.GetLabels())
		}
	}
}
