package warnings

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
)

// mostCompared is with how many others of the same number a port is compared.
const mostCompared = 50

// port is one of a container.
type port struct {
	at     *field.Path
	hostIP string
	host   int64
}

// ports are about ports of all containers that are said twice.
func (t *told) ports(each func(func(at *field.Path, c map[string]any))) {
	all, names := map[string][]port{}, map[string]*field.Path{}
	each(func(at *field.Path, c map[string]any) {
		for i, p := range list(c, "ports") {
			number, _ := p["containerPort"].(int64)
			host, _ := p["hostPort"].(int64)
			is := port{at.Child("ports").Index(i), object.TextAt(p, "hostIP"), host}
			if is.hostIP != "" && host == 0 {
				t.say("%s: hostIP set without hostPort: {Name:%s HostPort:0 ContainerPort:%d Protocol:%s HostIP:%s}", is.at, object.TextAt(p, "name"), number, object.TextAt(p, "protocol"), is.hostIP)
			}
			key := fmt.Sprintf("%d/%s", number, object.TextAt(p, "protocol"))
			for _, other := range all[key] {
				t.twice(is, other)
			}
			if len(all[key]) < mostCompared {
				all[key] = append(all[key], is)
			}
		}
	})
	each(func(at *field.Path, c map[string]any) {
		for i, p := range list(c, "ports") {
			name, here := object.TextAt(p, "name"), at.Child("ports").Index(i)
			if other := names[name]; other != nil {
				t.say("%s: duplicate port name %q with %s, services and probes that select ports by name will use %s", here, name, other, other)
			} else if name != "" {
				names[name] = here
			}
		}
	})
}

// twice is about two ports of the same number and protocol.
func (t *told) twice(is, other port) {
	switch {
	case is.hostIP == other.hostIP && is.host == other.host:
		t.say("%s: duplicate port definition with %s", is.at, other.at)
	case is.host == 0 || other.host == 0:
		t.say("%s: overlapping port definition with %s", is.at, other.at)
	case is.host == other.host && (is.hostIP == "") != (other.hostIP == ""):
		t.say("%s: dangerously ambiguous port definition with %s", is.at, other.at)
	}
}
