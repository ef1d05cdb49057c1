package tags

import (
	"context"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCustom_Format_IP is what the tag k8s-ip would call: octets of version 4
// may have leading zeros, as those that were stored long ago do.
func ValidateCustom_Format_IP(_ context.Context, _ operation.Operation, at *field.Path, value, _ *string) field.ErrorList {
	return validation.IsValidIPForLegacyField(at, *value, false, nil)
}
