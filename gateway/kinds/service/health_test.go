package service

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd/object"
)

// balanced is a service that tells of its health, with more in its spec.
func balanced(name, more string) string {
	return service(name, `"type":"LoadBalancer","externalTrafficPolicy":"Local"`+more)
}

func healthOf(s map[string]any) int64 {
	n, _ := at(s, "spec", healthPort).(int64)
	return n
}

// A balancer that keeps traffic where it came in has a port to ask for health,
// which comes from the node ports and goes back there. kube-apiserver says the same,
// but for the code of a port that cannot be had.
func TestHealthCheckNodePorts(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	refused := func(name, body, want string) {
		t.Helper()
		w.fresh() // a dry run claims nothing, and sees what the cache has
		for _, dry := range []bool{true, false} {
			if _, got := w.write(services, name, body, dry); got != want {
				t.Errorf("%s: %s\nwant %s", body, got, want)
			}
		}
	}
	const notAllowed = `Service %q is invalid: spec.healthCheckNodePort: Invalid value: %d: may only be set when ` + "`type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
	const failed = `Service %q is invalid: spec.healthCheckNodePort: Invalid value: %[2]d: failed to allocate requested HealthCheck NodePort %[2]d: %s`
	const taken = "provided port is already allocated"

	a := w.must(services, "", balanced("a", ""))
	if n := healthOf(a); n < 30000 || n > 30100 || len(portsOf(object.Child(a, "spec"))) != 2 {
		t.Errorf("it has %v", a["spec"])
	}
	none := w.must(services, "", balanced("none", `,"allocateLoadBalancerNodePorts":false`))
	if n := healthOf(none); n == 0 || len(portsOf(object.Child(none, "spec"))) != 1 {
		t.Errorf("without node ports it has %v", none["spec"])
	}
	if dry, _ := w.write(services, "", balanced("dry", `,"healthCheckNodePort":30096`), true); healthOf(dry) != 30096 {
		t.Errorf("a dry run has %v", dry)
	}
	w.must(services, "", balanced("c", `,"healthCheckNodePort":30096`))
	refused("", balanced("d", `,"healthCheckNodePort":30096`), fmt.Sprintf(failed, "d", 30096, taken))
	refused("", service("d", `"type":"NodePort"`+`,"externalTrafficPolicy":"Local","healthCheckNodePort":30095`), fmt.Sprintf(notAllowed, "d", 30095))
	refused("", service("d", `"type":"LoadBalancer","healthCheckNodePort":30095`), fmt.Sprintf(notAllowed, "d", 30095))
	refused("", balanced("d", `,"healthCheckNodePort":99`), fmt.Sprintf(failed, "d", 99, "provided port is not in the valid range. The range of valid ports is 30000-30100"))
	refused("", strings.Replace(balanced("d", `,"healthCheckNodePort":30095`), `"port":80`, `"port":80,"nodePort":30095`, 1), fmt.Sprintf(failed, "d", 30095, taken))

	if c := w.must(services, "c", balanced("c", "")); healthOf(c) != 30096 {
		t.Errorf("an update that says nothing leaves %v", c["spec"])
	}
	refused("c", balanced("c", `,"healthCheckNodePort":30094`), `Service "c" is invalid: spec.healthCheckNodePort: Forbidden: field is immutable`)
	refused("c", service("c", `"type":"LoadBalancer","healthCheckNodePort":30094`), fmt.Sprintf(notAllowed, "c", 30094))
	if c := w.must(services, "c", service("c", `"type":"LoadBalancer","healthCheckNodePort":30096`)); healthOf(c) != 0 {
		t.Errorf("one that is not needed stays: %v", c["spec"])
	}
	w.must(services, "", balanced("e", `,"healthCheckNodePort":30096`)) // which is free again
	refused("c", balanced("c", `,"healthCheckNodePort":30096`), fmt.Sprintf(failed, "c", 30096, taken))
	w.must(services, "c", balanced("c", `,"healthCheckNodePort":30094`))
	if c := w.must(services, "c", `{"metadata":{"name":"c"},"spec":{"type":"ClusterIP","ports":[{"port":80}],"externalTrafficPolicy":"Local","healthCheckNodePort":30094}}`); len(portsOf(object.Child(c, "spec"))) != 0 {
		t.Errorf("with its type go %v", c["spec"])
	}
}

// A port for health checks is one of the node ports: neither is given twice, on
// however many gateways.
func TestGatewaysGiveNoHealthCheckNodePortTwice(t *testing.T) {
	g := two(t, Ports{30000, 30100})
	for n := range 10 {
		once(t, g, "provided port is already allocated", func(i int) string {
			if i == 0 {
				return balanced(fmt.Sprintf("h%d", n), fmt.Sprintf(`,"healthCheckNodePort":%d`, 30080+n))
			}
			return fmt.Sprintf(`{"metadata":{"name":"n%d"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":%d}]}}`, n, 30080+n)
		})
	}
	full := two(t, Ports{30000, 30001})
	full[0].must(services, "", balanced("a", ""))
	if _, got := full[1].create(services, service("b", `"type":"NodePort"`), false); !strings.Contains(got, "range is full") {
		t.Errorf("of two ports a third is given: %s", got)
	}
}

// A service that was stored with a port for health checks that is a node port, too, can be
// written as it is; none becomes so.
func TestAStoredHealthCheckNodePortStays(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30100})
	body := func(label string, node, health int) string {
		return fmt.Sprintf(`{"metadata":{"name":"s","labels":{"a":%q}},"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local",
			"allocateLoadBalancerNodePorts":false,"healthCheckNodePort":%d,"ports":[{"port":80,"nodePort":%d}]}}`, label, health, node)
	}
	w.must(services, "", body("1", 30005, 30006))
	const refusal = "provided port is already allocated"
	if _, got := w.write(services, "s", body("2", 30006, 30006), false); !strings.Contains(got, refusal) {
		t.Errorf("a node port that becomes that for health checks: %q", got)
	}
	key := w.Catalog().Snapshot().Resource(services).Key("default", "s")
	kv, err := w.store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := w.Client.Get(t.Context(), services, "default", "s")
	if err != nil {
		t.Fatal(err)
	}
	stored = stored.DeepCopy()
	object.Child(stored.Object, "spec")[healthPort] = int64(30005)
	value, err := stored.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Update(t.Context(), key, value, kv.Revision, 0); err != nil {
		t.Fatal(err)
	}
	w.fresh()
	s := w.must(services, "s", body("2", 30005, 30005))
	if healthOf(s) != 30005 || at(s, "metadata", "labels", "a") != "2" || len(portsOf(object.Child(s, "spec"))) != 1 {
		t.Errorf("it has %v", s)
	}
	w.must(services, "s", body("2", 30007, 30005))
	if _, got := w.write(services, "s", body("2", 30005, 30005), false); !strings.Contains(got, refusal) {
		t.Errorf("once it has another: %q", got)
	}
}
