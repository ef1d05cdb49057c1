package module

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/controller/kinds"
)

const (
	// Pulled is the condition of a WasmModule that tells whether its image is in
	// the store. The package image sets it.
	Pulled = "Pulled"
	// PulledAnnotation is what was pulled last, a [PulledImage] in JSON.
	PulledAnnotation = "wasmgate.dev/pulled-image"
)

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
}

// Encode is the value of [PulledAnnotation].
func (p PulledImage) Encode() (string, error) {
	text, err := json.Marshal(p)
	return string(text), err
}

// Image is the image that a module's bytes come from; ok is false when they
// come from elsewhere.
func Image(obj *unstructured.Unstructured) (image string, ok bool) {
	source, _ := kinds.Section(obj, "spec")["source"].(map[string]any)
	oci, ok := source["oci"].(map[string]any)
	image, _ = oci["image"].(string)
	return image, ok
}

// PulledOf is what was pulled for a module last; ok is false for nothing.
func PulledOf(obj *unstructured.Unstructured) (pulled PulledImage, ok bool) {
	text := obj.GetAnnotations()[PulledAnnotation]
	if text == "" || json.Unmarshal([]byte(text), &pulled) != nil {
		return PulledImage{}, false
	}
	return pulled, pulled.Digest != ""
}
