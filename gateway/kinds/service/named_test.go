package service

import (
	"strings"
	"testing"
)

// Node ports that a client names are looked at, also where none are picked for the
// service: they are in the range, and one service's alone.
func TestNamedNodePortsWhereNoneArePicked(t *testing.T) {
	w := newWorld(t, "10.0.0.0/24", Ports{30000, 30009})
	w.must(services, "", `{"metadata":{"name":"other"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30001}]}}`)
	balancer := func(name, ports string) string {
		return `{"metadata":{"name":"` + name + `"},"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[` + ports + `]}}`
	}
	const outside, taken = "spec.ports[0].nodePort: Invalid value: PORT: provided port is not in the valid range", "spec.ports[0].nodePort: Invalid value: PORT: provided port is already allocated"
	for port, want := range map[string]string{"22": outside, "70000": outside, "-5": outside, "30001": taken} {
		for _, dry := range []bool{false, true} {
			if _, refusal := w.create(services, balancer("bad", `{"port":80,"nodePort":`+port+`}`), dry); !strings.Contains(refusal, strings.Replace(want, "PORT", port, 1)) {
				t.Errorf("%s, dry run %t: %q", port, dry, refusal)
			}
		}
	}
	port := func(s map[string]any, n int) any {
		return at(s, "spec", "ports").([]any)[n].(map[string]any)["nodePort"]
	}
	s := w.must(services, "", balancer("named", `{"name":"x","port":80,"nodePort":30002},{"name":"y","port":81}`))
	if port(s, 0) != int64(30002) || port(s, 1) != nil {
		t.Errorf("one is named, and the service has %v", at(s, "spec", "ports"))
	}
	if s := w.must(services, "", balancer("none", `{"port":80}`)); port(s, 0) != nil {
		t.Errorf("none is named, and the service has %v", port(s, 0))
	}
	if _, refusal := w.create(services, `{"metadata":{"name":"third"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30002}]}}`, false); !strings.Contains(refusal, "already allocated") {
		t.Errorf("one that is named twice: %q", refusal)
	}
	for body, want := range map[string]string{
		balancer("none", `{"port":80,"nodePort":22}`):                                                      "not in the valid range",
		balancer("none", `{"port":80,"nodePort":30002}`):                                                   "already allocated",
		`{"metadata":{"name":"none"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":22}]}}`:      "not in the valid range",
		`{"metadata":{"name":"none"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30001}]}}`:   "already allocated",
		balancer("named", `{"name":"x","port":80,"nodePort":30002},{"name":"y","port":81}`):                "",
		balancer("named", `{"name":"x","port":80,"nodePort":30003},{"name":"y","port":81,"nodePort":0}`):   "",
		balancer("named", `{"name":"x","port":80,"nodePort":30004},{"name":"y","port":81,"nodePort":-30}`): "not in the valid range",
	} {
		name := "none"
		if strings.Contains(body, `"named"`) {
			name = "named"
		}
		if _, refusal := w.write(services, name, body, true); !strings.Contains(refusal, want) || want == "" && refusal != "" {
			t.Errorf("updated with %s: %q", body, refusal)
		}
	}
}
