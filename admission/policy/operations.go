package policy

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/mutation"

	"github.com/wasmgate/wasmgate/crd/jsonpatch"
)

// The bounds of the paths that an expression may make.
const (
	maxSteps   = 256  // of one path
	maxNesting = 1000 // of all to which something is moved or copied
)

// bounded is an evaluator of patches, whose operations are looked at before the library
// applies them by itself: for it nesting has no bound (see [jsonpatch.Patch.Apply]).
type bounded struct{ admissioncel.MutatingEvaluator }

// ForInput implements [admissioncel.MutatingEvaluator].
func (b bounded) ForInput(ctx context.Context, a *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, bound admissioncel.OptionalVariableBindings, namespace *corev1.Namespace, budget int64) (admissioncel.EvaluationResult, int64, error) {
	result, left, err := b.MutatingEvaluator.ForInput(ctx, a, request, bound, namespace, budget)
	if operations, ok := result.EvalResult.(traits.Lister); ok && err == nil && result.Error == nil {
		result.Error = nested(operations)
	}
	return result, left, err
}

// nested refuses operations that are too many, or nest too deeply.
func nested(operations traits.Lister) error {
	count, total := 0, 0
	for it := operations.Iterator(); it.HasNext() == types.True; {
		native, err := it.Next().ConvertToNative(reflect.TypeFor[*mutation.JSONPatchVal]())
		op, ok := native.(*mutation.JSONPatchVal)
		if err != nil || !ok {
			return nil // which the library says
		}
		steps := strings.Count(op.Path, "/")
		if op.Op == "move" || op.Op == "copy" {
			total += steps
		}
		if steps > maxSteps || total > maxNesting {
			return fmt.Errorf("the operations have paths of more than %d steps, or move and copy to paths of more than %d together", maxSteps, maxNesting)
		}
		if count++; count > jsonpatch.MaxOperations {
			return &jsonpatch.TooMany{Operations: count}
		}
	}
	return nil
}
