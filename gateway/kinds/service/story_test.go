package service

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/controllertest"
)

// The default ServiceCIDR comes to have both ranges, and to be ready.
func TestTheDefaultServiceCIDRWhateverHappens(t *testing.T) {
	controllertest.Story{
		World: func(t *testing.T) *controllertest.Objects {
			o := controllertest.New(&crd.Definition{Group: serviceCIDRs.Group, Plural: serviceCIDRs.Resource, Kind: "ServiceCIDR", StorageVersion: "v1", KeyPrefix: serviceCIDRs.Resource})
			controllertest.MustCreate(t, o, serviceCIDRs, map[string]any{"metadata": map[string]any{"name": kubernetes}, "spec": map[string]any{"cidrs": []any{"10.0.0.0/24"}}})
			return o
		},
		Lead: func(s *controllertest.Seat) []controller.Controller {
			return []controller.Controller{NewRange(s, Config{Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/120")}})}
		},
		Main: controller.Key{GroupResource: serviceCIDRs, Name: kubernetes},
		Outcome: func(t *testing.T, o *controllertest.Objects) string {
			obj := controllertest.MustGet(t, o, serviceCIDRs, "", kubernetes)
			status, _, message := controllertest.Condition(obj, "Ready")
			return fmt.Sprint(at(obj.Object, "spec", "cidrs"), " Ready ", status, ": ", message)
		},
		Want: "[10.0.0.0/24 fd00::/120] Ready True: Kubernetes default Service CIDR is ready",
	}.Tell(t)
}
