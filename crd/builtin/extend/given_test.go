package extend_test

import (
	"slices"
	"testing"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
	"github.com/wasmgate/wasmgate/crd/object"
)

// What a status says of the claim for a pod's extended resources, and of the health of what
// it was given.
func TestResourcesThatPodsWereGiven(t *testing.T) {
	const pod = `{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"a.b/c":"1"},"limits":{"a.b/c":"1"}}}]}`
	d := builtintest.Definitions(t)["pod"]
	for _, c := range []struct{ status, want string }{
		{`{"extendedResourceClaimStatus":{"resourceClaimName":"x","requestMappings":[{}]}}`, `[status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "": must match the name of an entry in spec.initContainers.name or spec.containers.name, status.extendedResourceClaimStatus.requestName: Invalid value: "": ` + notLabel + `]`},
		{`{"extendedResourceClaimStatus":{"resourceClaimName":"x","requestMappings":[{"containerName":"c","resourceName":"a.b/c","requestName":"r"}]}}`, ``},
		{`{"extendedResourceClaimStatus":{"resourceClaimName":"x","requestMappings":[{"containerName":"z","resourceName":"odd","requestName":"A_"}]}}`, `[status.extendedResourceClaimStatus.requestMappings[0].containerName: Invalid value: "z": must match the name of an entry in spec.initContainers.name or spec.containers.name, status.extendedResourceClaimStatus.requestName: Invalid value: "A_": ` + notLabel + `]`},
		{`{"extendedResourceClaimStatus":{"resourceClaimName":"x","requestMappings":[{"containerName":"c","resourceName":"a.b/c","requestName":"r"},{"containerName":"c","resourceName":"a.b/c","requestName":"r"}]}}`, `[status.extendedResourceClaimStatus.requestMappings[1].containerName: Duplicate value: "c", status.extendedResourceClaimStatus.requestMappings[1].resourceName: Duplicate value: "a.b/c", status.extendedResourceClaimStatus.requestMappings[1].requestName: Duplicate value: "r"]`},
		{`{"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":false,"restartCount":0,"allocatedResourcesStatus":[{"name":"a.b/c","resources":[{"resourceID":"a"},{"resourceID":"a"}]}]}]}`, `[status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported value: "": supported values: "Healthy", "Unhealthy", "Unknown", status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].health: Unsupported value: "": supported values: "Healthy", "Unhealthy", "Unknown", status.containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID: Duplicate value: "a"]`},
		{`{"containerStatuses":[{"name":"c","image":"i","imageID":"","ready":false,"restartCount":0,"allocatedResourcesStatus":[{"name":"a.b/c","resources":[{"resourceID":""}]}]}]}`, `status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported value: "": supported values: "Healthy", "Unhealthy", "Unknown"`},
	} {
		err := crdtest.Change(t, d, "status", pod+`}`, pod+`,"status":`+c.status+`}`)
		if got := crdtest.Message(err); !slices.Equal(said(got), said(c.want)) || (err == nil) != (c.want == "") {
			t.Errorf("%s: %s (%v), want %s", c.status, got, err, c.want)
		}
	}
}

// What tolerates a taint says how, or means its value.
func TestHowDevicesAreTolerated(t *testing.T) {
	for said, want := range map[string]string{`"key":"a"`: "Equal", `"key":"a","operator":""`: "Equal", `"operator":"Exists"`: "Exists"} {
		obj := crdtest.Shaped(t, builtintest.Definitions(t)["resourceclaim"], `{"metadata":{"name":"x"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c","tolerations":[{`+said+`}]}}]}}}`)
		request := object.Objects(object.Child(obj.Object, "spec", "devices")["requests"])[0]
		if got := object.TextAt(object.Objects(object.Child(request, "exactly")["tolerations"])[0], "operator"); got != want {
			t.Errorf("%s: %s", said, got)
		}
	}
}
