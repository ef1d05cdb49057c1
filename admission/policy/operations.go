package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"github.com/wasmgate/wasmgate/crd/cel/dyn"
	"github.com/wasmgate/wasmgate/crd/jsonpatch"
)

// The bounds of the operations that an expression may make.
const (
	maxSteps   = 256  // of one path
	maxNesting = 1000 // of all to which something is moved or copied
	// maxTotal is of all values, of which a part counts as many bytes as perPart: a value is
	// some times as large while a text is made of it.
	maxTotal, perPart = 8 << 20, 16
)

// objects reads and writes those that have no Go type.
var objects = serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, runtime.NewScheme(), runtime.NewScheme(), serializer.SerializerOptions{Strict: true})

// jsonPatch is a mutation by patches. Where a test of one fails, nothing is changed.
func jsonPatch(e admissioncel.MutatingEvaluator) changer {
	return func(ctx context.Context, r *request, a asked, i invocation) (map[string]any, error) {
		made, err := evaluated(ctx, e, r, a, i)
		if err != nil {
			return nil, err
		}
		p, err := patchOf(made)
		if err != nil {
			return nil, err
		}
		now := a.attributes.VersionedObject.Object()
		text, err := runtime.Encode(objects, now)
		if err != nil {
			return nil, fmt.Errorf("failed to create JSON patch: %w", err)
		}
		text, err = p.Apply(text)
		if jsonpatch.TestFailed(err) {
			return runtime.DefaultUnstructuredConverter.ToUnstructured(now)
		}
		if err != nil {
			return nil, fmt.Errorf("JSON Patch: %w", err)
		}
		out := &unstructured.Unstructured{}
		if _, _, err := objects.Decode(text, nil, out); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		return out.Object, nil
	}
}

// patchOf is the patch that an expression has made, which is refused if it has too many
// operations, they nest too deeply, or their values are too large together.
func patchOf(made ref.Val) (jsonpatch.Patch, error) {
	list, ok := made.(traits.Lister)
	if !ok {
		return nil, fmt.Errorf("type mismatch: the expression of a JSON patch makes a %s, and is to make a list", made.Type().TypeName())
	}
	if n, _ := list.Size().(types.Int); n > jsonpatch.MaxOperations { // whose values are not written first
		return nil, &jsonpatch.TooMany{Operations: int(n)}
	}
	var operations []jsonpatch.Operation
	var values total
	nesting := 0
	for it := list.Iterator(); it.HasNext() == types.True; {
		item := it.Next()
		op, ok := item.(*mutation.JSONPatchVal)
		if !ok {
			return nil, fmt.Errorf("type mismatch: the expression of a JSON patch makes a list of %s, and is to make one of JSONPatch", item.Type().TypeName())
		}
		steps := strings.Count(op.Path, "/")
		if op.Op == "move" || op.Op == "copy" {
			nesting += steps
		}
		if steps > maxSteps || nesting > maxNesting {
			return nil, fmt.Errorf("the operations have paths of more than %d steps, or move and copy to paths of more than %d together", maxSteps, maxNesting)
		}
		if err := values.add(op); err != nil {
			return nil, err
		}
		value, err := valueOf(op.Val)
		if err != nil {
			return nil, err
		}
		operations = append(operations, jsonpatch.Operation{Op: op.Op, Path: op.Path, From: op.From, Value: value})
	}
	return jsonpatch.Of(operations)
}

// valueOf is the JSON of a value, nil for none.
func valueOf(v ref.Val) ([]byte, error) {
	if v == nil {
		return nil, nil
	}
	if o, ok := v.(*dynamic.ObjectVal); ok {
		if err := dyn.CheckTypeNames(o); err != nil {
			return nil, fmt.Errorf("type mismatch: %w", err)
		}
	}
	native, err := v.ConvertToNative(types.JSONValueType)
	if err != nil {
		return nil, fmt.Errorf("the value of an operation cannot be written as JSON: %w", err)
	}
	text, err := json.Marshal(native)
	if err != nil {
		return nil, fmt.Errorf("the value of an operation cannot be written as JSON: %w", err)
	}
	return text, nil
}

// total is how large values are together, before anything is made of them: one of a few
// names may stand for more than there is memory.
type total struct{ bytes int }

func (t *total) add(v ref.Val) error {
	parts, bytes, err := dyn.Weigh(v)
	if err != nil {
		return err
	}
	if t.bytes += bytes + perPart*parts; t.bytes > maxTotal {
		return fmt.Errorf("the values that the expression makes are too large: they may have %d bytes together, of which each part counts %d", maxTotal, perPart)
	}
	return nil
}
