package upload

import (
	"context"
	"encoding/base64"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

// Sources is the strategy of a WasmModule with a check of what its spec says
// about its bytes, so that a write that names what can never be used is refused.
type Sources struct {
	crd.Strategy
	// Checker judges the bytes in a spec.
	Checker Checker
	// Trust tells whether they may be the module's; once requests are served.
	Trust func() Trust
	// Image refuses what cannot be the name of an image.
	Image func(image string) error
}

// Validate implements [crd.Strategy]. What was there before is left alone: it may be
// from a time when it was accepted.
func (s Sources) Validate(ctx context.Context, obj, old *unstructured.Unstructured) crd.Verdict {
	v := s.Strategy.Validate(ctx, obj, old)
	v.Errors = append(v.Errors, s.check(ctx, obj, old)...)
	return v
}

func (s Sources) check(ctx context.Context, obj, before *unstructured.Unstructured) (errs field.ErrorList) {
	if text := source(obj, "inline"); text != source(before, "inline") {
		errs = s.checkInline(ctx, obj, text)
	}
	if image := source(obj, "oci", "image"); image != source(before, "oci", "image") {
		if err := s.Image(image); err != nil {
			errs = append(errs, field.Invalid(field.NewPath("spec", "source", "oci", "image"), image, err.Error()))
		}
	}
	return errs
}

func (s Sources) checkInline(ctx context.Context, obj *unstructured.Unstructured, text string) field.ErrorList {
	path := field.NewPath("spec", "source", "inline")
	module, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	if err := s.Checker.Check(obj.GetName(), module); err != nil {
		return field.ErrorList{refusal(path, len(module), err)}
	}
	if err := s.Trust().Check(ctx, obj, module); err != nil {
		return field.ErrorList{refusal(path, len(module), err)}
	}
	return nil
}

// source is a text in spec.source, "" for none.
func source(obj *unstructured.Unstructured, path ...string) string {
	if obj == nil {
		return ""
	}
	text, _, _ := unstructured.NestedString(obj.Object, append([]string{"spec", "source"}, path...)...)
	return text
}
