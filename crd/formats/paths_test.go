package formats

import (
	"strings"
	"testing"
)

// Names of a kernel's settings are as long as kube-apiserver lets them be.
func TestNamesOfSysctls(t *testing.T) {
	for name, want := range map[string]bool{
		"kernel.shm_rmid_forced": true, "net/ipv4/ip_local_port_range": true, strings.Repeat("a", 253): true,
		strings.Repeat("a", 254): false, "": false, "Kernel.x": false, "a..b": false, "a.": false,
	} {
		if errs := sysctl(name); (len(errs) == 0) != want {
			t.Errorf("%s: %v", name, errs)
		}
	}
}
