// Package patch owns what a JSON patch (RFC 6902), a JSON merge patch (RFC 7386) and
// a strategic merge patch make of an object: functions from a state to the next.
// (What an applied configuration makes of it is apply's.) Its errors are the API's
// status errors.
//
// It must not know requests, kinds or the engine.
package patch

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/excerpt"
)

// State is what a patch is applied to, which only reads it: an object, as JSON and
// decoded.
type State struct {
	JSON []byte
	Tree map[string]any
	// Shared: the outcome may share parts with Tree, and so is only to be read.
	Shared bool
}

// Patch computes the new object from the present one, and names the fields that the
// outcome's text has twice, as values of JSON patches bring them along. It may run several
// times; what it returns is the caller's, but for what [State.Shared] allows it to share.
type Patch func(from State) (tree map[string]any, repeated []string, err error)

// Unsupported is the refusal of a patch of a media type that what is patched does not
// take.
func Unsupported() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s, %s, %s", types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType),
	}}
}

// Supported reports whether objects take patches of a media type. typed is nil for
// those without a Go type, which take no strategic merge patches.
func Supported(kind types.PatchType, typed func() runtime.Object) bool {
	switch kind {
	case types.JSONPatchType, types.MergePatchType:
		return true
	}
	return kind == types.StrategicMergePatchType && typed != nil
}

// Decode reads a patch of a media type, of what typed makes: see [Supported]. odd
// names the fields of the body that are duplicate or unknown.
func Decode(kind types.PatchType, body []byte, typed func() runtime.Object) (p Patch, odd []string, err error) {
	switch {
	case !Supported(kind, typed):
		return nil, nil, Unsupported()
	case kind == types.JSONPatchType:
		return decodeJSON(body)
	case kind == types.MergePatchType:
		return decodeMerge(body)
	default:
		return decodeStrategic(body, typed)
	}
}

func unprocessable(err error) error {
	return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
}

// Invalid is the refusal of a patch whose outcome is no object.
func Invalid(outcome []byte, err error) error {
	const shown = 4096
	text := excerpt.Of(string(outcome), shown)
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), text, err.Error()),
	})
}

// Refuse is [Invalid] of the outcome of a patch, which is applied again, since what
// it made was worked upon.
func (p Patch) Refuse(from State, why error) error {
	tree, _, err := p(from)
	if err != nil {
		return err
	}
	data, err := object.Encode(tree)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	return Invalid(data, why)
}
