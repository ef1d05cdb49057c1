package storageobject

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission/plugin"
)

// The kinds that are protected.
var (
	Claims  = schema.GroupResource{Resource: "persistentvolumeclaims"}
	Volumes = schema.GroupResource{Resource: "persistentvolumes"}
	Classes = schema.GroupResource{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}
)

var pods = schema.GroupResource{Resource: "pods"}

// kind is a kind of object that is protected.
type kind struct {
	finalizer string
	// holds tells of an object that is in use by what it says itself.
	holds func(object map[string]any) bool
	// users are the kinds of those that may use an object: in its namespace, or
	// anywhere if it has none.
	users map[schema.GroupResource]uses
}

// uses tells whether user uses object.
type uses func(user, object *unstructured.Unstructured) bool

var protected = map[schema.GroupResource]kind{
	Claims: {
		finalizer: plugin.InUse[Claims],
		users:     map[schema.GroupResource]uses{pods: podUsesClaim},
	},
	Volumes: {
		finalizer: plugin.InUse[Volumes],
		holds:     func(volume map[string]any) bool { return text(volume, "status", "phase") == "Bound" },
	},
	Classes: {
		finalizer: plugin.InUse[Classes],
		users: map[schema.GroupResource]uses{
			Claims: names([]string{"spec", "volumeAttributesClassName"}, []string{"status", "currentVolumeAttributesClassName"},
				[]string{"status", "modifyVolumeStatus", "targetVolumeAttributesClassName"}),
			Volumes: names([]string{"spec", "volumeAttributesClassName"}),
		},
	},
}

// names tells of objects that are used by who has their name at one of paths.
func names(paths ...[]string) uses {
	return func(user, object *unstructured.Unstructured) bool {
		for _, path := range paths {
			if text(user.Object, path...) == object.GetName() {
				return true
			}
		}
		return false
	}
}

// podUsesClaim: a pod that has no node yet does not count, as no kubelet starts
// it with a claim that is being deleted; one that has ended does.
func podUsesClaim(pod, claim *unstructured.Unstructured) bool {
	if text(pod.Object, "spec", "nodeName") == "" {
		return false
	}
	list, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, v := range list {
		volume, _ := v.(map[string]any)
		if text(volume, "persistentVolumeClaim", "claimName") == claim.GetName() {
			return true
		}
		if volume["ephemeral"] != nil && pod.GetName()+"-"+text(volume, "name") == claim.GetName() && controls(pod, claim) {
			return true
		}
	}
	return false
}

// controls tells that pod owns the claim that was made for its volume.
func controls(pod, claim *unstructured.Unstructured) bool {
	for _, o := range claim.GetOwnerReferences() {
		if o.Controller != nil && *o.Controller && o.UID == pod.GetUID() {
			return true
		}
	}
	return false
}

func text(tree map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(tree, path...)
	return s
}
