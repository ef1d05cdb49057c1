package extend_test

import (
	"encoding/json"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// written is what an update makes of a part of an object.
func written(t *testing.T, d *crd.Definition, subresource, was, now, part string) string {
	t.Helper()
	obj, strategy := crdtest.Shaped(t, d, now), d.Versions[0].Strategy
	if subresource != "" {
		strategy = d.Versions[0].Subresources[subresource].Update
	}
	strategy.Prepare(t.Context(), obj, crdtest.Shaped(t, d, was))
	text, err := json.Marshal(obj.Object[part])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A service that has no load balancer any more says nothing of one.
func TestLoadBalancersThatAreGivenUp(t *testing.T) {
	d := builtintest.Definitions(t)["service"]
	service := func(kind string) string {
		return `{"metadata":{"name":"x"},"spec":{"type":"` + kind + `","ports":[{"port":80}]},"status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"VIP"}]},"conditions":[{"type":"A","status":"True"}]}}`
	}
	const kept = `{"conditions":[{"lastTransitionTime":null,"message":"","reason":"","status":"True","type":"A"}],"loadBalancer":{"ingress":[{"ip":"1.2.3.4","ipMode":"VIP"}]}}`
	for kind, want := range map[string]string{
		"LoadBalancer": kept,
		"ClusterIP":    `{"conditions":[{"lastTransitionTime":null,"message":"","reason":"","status":"True","type":"A"}],"loadBalancer":{}}`,
		"NodePort":     `{"conditions":[{"lastTransitionTime":null,"message":"","reason":"","status":"True","type":"A"}],"loadBalancer":{}}`,
	} {
		if got := written(t, d, "", service("LoadBalancer"), service(kind), "status"); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	// who writes the status says what there is, while it is being taken away
	if got := written(t, d, "status", service("ClusterIP"), service("ClusterIP"), "status"); got != kept {
		t.Errorf("of a status: %s, want %s", got, kept)
	}
}

// A zone that was known once may stay.
func TestZonesThatStay(t *testing.T) {
	d := builtintest.Definitions(t)["cronjob"]
	job := func(zone, schedule string) string {
		return `{"metadata":{"name":"x"},"spec":{"timeZone":"` + zone + `","schedule":"` + schedule + `","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`
	}
	if err := crdtest.Change(t, d, "", job("Odd/Zone", "0 * * * *"), job("Odd/Zone", "1 * * * *")); err != nil {
		t.Error(err)
	}
	if err := crdtest.Change(t, d, "", job("Odd/Zone", "0 * * * *"), job("Odder/Zone", "0 * * * *")); err == nil {
		t.Error("another is taken")
	}
}
