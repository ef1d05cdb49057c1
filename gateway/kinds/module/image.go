package module

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Pulled is the condition of a WasmModule that tells whether its image is in the
// store. The package image sets it.
const Pulled = "Pulled"

// PulledImage is what an image was when it was pulled. A tag may be another
// image since; what serves does not change by that.
type PulledImage struct {
	// Image is the reference as the spec has it.
	Image string `json:"image"`
	// Attempt is the value of [RetryAnnotation] at that time.
	Attempt string `json:"attempt,omitempty"`
	// Manifest and Digest are digests: of the image, and of the module in it,
	// under which the store keeps it.
	Manifest string `json:"manifest"`
	Digest   string `json:"digest"`
	// Mirror is the location of the mirror that had it; "" for the image's own registry.
	Mirror string `json:"mirror,omitempty"`
	// Beside is what vouches for it, and for those before it, newest first.
	Beside []Beside `json:"beside,omitempty"`
}

// Image is the image that a module's bytes come from; ok is false when they
// come from elsewhere.
func Image(obj *unstructured.Unstructured) (image string, ok bool) {
	source, _ := gvr.Section(obj, "spec")["source"].(map[string]any)
	oci, ok := source["oci"].(map[string]any)
	image, _ = oci["image"].(string)
	return image, ok
}

// PullSecret is the Secret that a module shows its registry; no name for none.
func PullSecret(obj *unstructured.Unstructured) types.NamespacedName {
	// The schema has checked both fields; what is not there is none.
	namespace, _, _ := unstructured.NestedString(obj.Object, "spec", "source", "oci", "pullSecret", "namespace")
	name, _, _ := unstructured.NestedString(obj.Object, "spec", "source", "oci", "pullSecret", "name")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// Repository is the name of an image without its tag and digest.
func Repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndexByte(image, ':'); at > strings.LastIndexByte(image, '/') {
		return image[:at]
	}
	return image
}

// PulledOf is what was pulled for a module last, as its status says, which the
// gateway alone writes; ok is false for nothing.
func PulledOf(obj *unstructured.Unstructured) (pulled PulledImage, ok bool) {
	tree, ok := gvr.Section(obj, "status")["pulled"].(map[string]any)
	if !ok || runtime.DefaultUnstructuredConverter.FromUnstructured(tree, &pulled) != nil {
		return PulledImage{}, false
	}
	return pulled, pulled.Digest != ""
}

// SetPulled notes what was pulled.
func SetPulled(obj *unstructured.Unstructured, pulled PulledImage) error {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pulled)
	if err != nil {
		return fmt.Errorf("write status of module %q: %w", obj.GetName(), err)
	}
	return unstructured.SetNestedMap(obj.Object, tree, "status", "pulled")
}

// notPulled is why there is no content of an image: what the package image says of
// the last try, if that was about this image.
func notPulled(obj *unstructured.Unstructured, image string) *Refusal {
	c := meta.FindStatusCondition(StatusOf(obj).Conditions, Pulled)
	if c == nil || c.Status != metav1.ConditionFalse || !strings.HasPrefix(c.Message, image+": ") {
		return &Refusal{Reason: "ContentMissing", Message: image + " was not pulled yet", Expected: true}
	}
	return &Refusal{Reason: c.Reason, Message: c.Message}
}
