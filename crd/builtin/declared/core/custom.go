package core

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Tags name these two, of a field of pods that came after the release that is served.
// Nothing of it is kept here, so there is nothing to check.

// ValidateCustom_EvictionResponder_Name allows all names.
func ValidateCustom_EvictionResponder_Name(context.Context, operation.Operation, *field.Path, *string, *string) field.ErrorList {
	return nil
}

// ValidateCustom_EvictionResponder_Priority allows all priorities.
func ValidateCustom_EvictionResponder_Priority(context.Context, operation.Operation, *field.Path, *int32, *int32) field.ErrorList {
	return nil
}
