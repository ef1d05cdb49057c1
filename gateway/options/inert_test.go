package options

import (
	"slices"
	"strings"
	"testing"
)

// What nobody can mean here is refused; the rest is taken, and told of once.
func TestInertFlags(t *testing.T) {
	for line, want := range map[string]string{
		"watch-cache=true": "", "watch-cache=no": "invalid", "watch-cache-sizes=a#1": "", "kubelet-timeout=5s": "", "kubelet-timeout=5": "missing unit",
		"storage-backend=etcd3": "", "storage-backend=etcd2": "has to be etcd3 here: the store is etcd", "http2-max-streams-per-connection=x": "invalid",
		"permit-port-sharing=true": "has to be false here", "permit-port-sharing=1": "has to be false here", "permit-port-sharing=0": "", "kubernetes-service-node-port=0": "", "kubernetes-service-node-port=30000": "has to be 0 here",
	} {
		name, value, _ := strings.Cut(line, "=")
		i := slices.IndexFunc(Inerts, func(f Inert) bool { return f.Name == name })
		if i < 0 {
			t.Errorf("there is no --%s", name)
			continue
		}
		if err := Inerts[i].Check(value); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("--%s: %v, want %q", line, err, want)
		}
	}
	want := []string{"--vmodule does nothing here: -v is for all of the log", "--watch-cache does nothing here: reads and watches are always answered from memory"}
	if got := InertWarnings([]string{"watch-cache", "vmodule"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Gates of kube-apiserver's that are none here are taken as they are by default, with a
// warning as they are not, and those that are locked not otherwise.
func TestOtherGates(t *testing.T) {
	for setting, want := range map[string][2]string{
		"SidecarContainers=true":        {},
		"SidecarContainers=false":       {"cannot set feature gate SidecarContainers to false, feature is locked to true"},
		"SidecarContainers=maybe":       {"SidecarContainers must be true or false, got \"maybe\""},
		"PodLevelResources=true":        {},
		"PodLevelResources=false":       {"", "Feature gate PodLevelResources=false does nothing here: kube-apiserver has it on by default, and there is nothing to set."},
		"ClusterTrustBundle=true":       {"", "Feature gate ClusterTrustBundle=true does nothing here: kube-apiserver has it off by default, and there is nothing to set."},
		"ClusterTrustBundle=false":      {},
		"AllowServiceExternalIPs=false": {"", "Feature gate AllowServiceExternalIPs=false does nothing here: kube-apiserver has it on by default, and there is nothing to set."},
		"GitRepoVolumeDriver=true":      {"cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false"},
		"NeverHeardOf=true":             {"unrecognized feature gate: NeverHeardOf"},
	} {
		s := Default()
		s.FeatureGates = []string{setting}
		err, warned := gateError(s.Gates(), setting, s.Release()), strings.Join(s.GateWarnings(), "; ")
		if want[0] == "" && err != nil || want[0] != "" && (err == nil || err.Error() != want[0]) {
			t.Errorf("%s: %v, want %q", setting, err, want[0])
		}
		if err == nil && warned != want[1] {
			t.Errorf("%s: %q, want %q", setting, warned, want[1])
		}
	}
}
