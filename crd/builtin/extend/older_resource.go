package extend

import (
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wasmgate/wasmgate/crd/object"
)

// remade is an object of another Go type, by what both have in JSON, after a change to that.
func remade[H, V any](in *V, change func(tree map[string]any)) (*H, error) {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(in)
	if err != nil {
		return nil, err
	}
	change(tree)
	out := new(H)
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(tree, out)
}

// olderDeviceClass is one of resource.k8s.io/v1beta1 at v1.
func olderDeviceClass(in *resourcev1beta1.DeviceClass) (*resourcev1.DeviceClass, error) {
	return remade[resourcev1.DeviceClass](in, func(map[string]any) {})
}

// olderResourceClaim is one of resource.k8s.io/v1beta1 at v1.
func olderResourceClaim(in *resourcev1beta1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return remade[resourcev1.ResourceClaim](in, func(tree map[string]any) { exactRequests(object.Child(tree, "spec")) })
}

// olderResourceClaimTemplate is one of resource.k8s.io/v1beta1 at v1.
func olderResourceClaimTemplate(in *resourcev1beta1.ResourceClaimTemplate) (*resourcev1.ResourceClaimTemplate, error) {
	return remade[resourcev1.ResourceClaimTemplate](in, func(tree map[string]any) { exactRequests(object.Child(tree, "spec", "spec")) })
}

// exactRequests puts what requests for devices say of the one way to meet them where v1 has it.
func exactRequests(claim map[string]any) {
	for _, request := range object.Objects(object.Child(claim, "devices")["requests"]) {
		exactly := map[string]any{}
		for name, v := range request {
			if name != "name" && name != "firstAvailable" {
				delete(request, name)
				exactly[name] = v
			}
		}
		if exactly["deviceClassName"] == "" { // which is always printed
			delete(exactly, "deviceClassName")
		}
		if len(exactly) > 0 {
			request["exactly"] = exactly
		}
	}
}

// olderResourceSlice is one of resource.k8s.io/v1beta1 at v1, whose devices are all basic.
func olderResourceSlice(in *resourcev1beta1.ResourceSlice) (*resourcev1.ResourceSlice, error) {
	return remade[resourcev1.ResourceSlice](in, func(tree map[string]any) {
		for _, device := range object.Objects(object.Child(tree, "spec")["devices"]) {
			for name, v := range object.Child(device, "basic") {
				device[name] = v
			}
			delete(device, "basic")
		}
	})
}
