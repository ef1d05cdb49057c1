package upload

import (
	"context"
	"encoding/base64"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd"
)

// Inline is the strategy of a WasmModule with a check of the bytes in its
// spec, so that a write that brings refused ones is refused.
type Inline struct {
	crd.Strategy
	Checker Checker
}

// Validate implements rest.RESTCreateStrategy.
func (s Inline) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return append(s.Strategy.Validate(ctx, obj), s.check(obj, "")...)
}

// ValidateUpdate implements rest.RESTUpdateStrategy. Bytes that were there
// before are left alone: they may be from a time when they were accepted.
func (s Inline) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return append(s.Strategy.ValidateUpdate(ctx, obj, old), s.check(obj, inline(old))...)
}

func (s Inline) check(obj runtime.Object, before string) field.ErrorList {
	text := inline(obj)
	if text == before {
		return nil
	}
	path := field.NewPath("spec", "source", "inline")
	module, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return field.ErrorList{field.Invalid(path, "", err.Error())}
	}
	if err := s.Checker.Check(obj.(*unstructured.Unstructured).GetName(), module); err != nil {
		return field.ErrorList{refusal(path, len(module), err)}
	}
	return nil
}

// inline is the text of spec.source.inline, "" for none.
func inline(obj runtime.Object) string {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return ""
	}
	text, _, _ := unstructured.NestedString(u.Object, "spec", "source", "inline")
	return text
}
