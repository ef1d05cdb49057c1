package patch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kjson "sigs.k8s.io/json"

	"github.com/wasmgate/wasmgate/crd/jsonpatch"
	"github.com/wasmgate/wasmgate/crd/object"
)

func decodeJSON(body []byte) (Patch, []string, error) {
	operations, err := jsonpatch.Decode(body)
	var many *jsonpatch.TooMany
	if errors.As(err, &many) {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", jsonpatch.MaxOperations, many.Operations))
	}
	if err != nil {
		return nil, nil, apierrors.NewBadRequest("error decoding patch: " + cmp.Or(noOperations(body), err).Error())
	}
	odd, err := oddOperations(body)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest("error decoding patch: " + err.Error())
	}
	return func(from State) (map[string]any, []string, error) {
		data, err := operations.Apply(from.JSON)
		var much *jsonpatch.TooMuch
		if errors.As(err, &much) {
			return nil, nil, apierrors.NewRequestEntityTooLargeError("The JSON patch is refused: " + much.Error())
		}
		if err != nil {
			return nil, nil, unprocessable(err)
		}
		like := object.Text{}
		if from.Shared && object.Large(from.JSON) {
			like = object.Text{Data: from.JSON, Tree: from.Tree}
		}
		tree, repeated, err := object.ParseLike(data, like)
		if err != nil {
			return nil, nil, Invalid(data, err)
		}
		return tree, repeated, nil
	}, odd, nil
}

// noOperations says what a document has in place of operations, by the names that
// kube-apiserver's types have. Of one that is no JSON it says nothing.
func noOperations(body []byte) error {
	const message = "json: cannot unmarshal %s into Go value of type %s"
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok && v != nil {
		return fmt.Errorf(message, JSONType(v), "[]handlers.jsonPatchOp")
	}
	for _, o := range list {
		if _, ok := o.(map[string]any); !ok && o != nil {
			return fmt.Errorf(message, JSONType(o), "handlers.jsonPatchOp")
		}
	}
	return nil
}

// oddOperations names the fields of a JSON patch that are duplicate or that
// operations do not have, in the order of the operations. It fails on a name or a path
// that is no text, of which the patch library would only say that it cannot do it.
func oddOperations(body []byte) ([]string, error) {
	const wrapper = `{"patch":`
	wrapped := slices.Concat([]byte(wrapper), body, []byte("}"))
	tree, duplicates, err := object.Parse(wrapped)
	if err != nil {
		var read []jsonPatchOp
		if !json.Valid(body) { // which is the patch library's to say
			return nil, nil
		}
		return nil, kjson.UnmarshalCaseSensitivePreserveInts(body, &read)
	}
	operations, _ := tree["patch"].([]any)
	odd := make([][]string, len(operations)+1) // the last are of none
	for _, d := range duplicates {
		said, at := strings.Replace(d, `"patch[`, `"[`, 1), len(operations)
		if n, err := fmt.Sscanf(said, `duplicate field "[%d]`, &at); n == 0 || err != nil || at < 0 || at >= len(operations) {
			at = len(operations)
		}
		odd[at] = append(odd[at], "json patch "+said)
	}
	for i, o := range operations {
		fields, _ := o.(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			switch v := fields[k]; k {
			case "value":
			case "op", "path", "from":
				if _, ok := v.(string); !ok && v != nil {
					return nil, fmt.Errorf("json: cannot unmarshal %s into Go struct field jsonPatchOp.%s of type string", JSONType(v), k)
				}
			default:
				odd[i] = append(odd[i], fmt.Sprintf("json patch unknown field %q", fmt.Sprintf("[%d].%s", i, k)))
			}
		}
	}
	return slices.Concat(odd...), nil
}

// jsonPatchOp is an operation as kube-apiserver reads it, which errors name.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// JSONType is what encoding/json calls a value.
func JSONType(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return "number"
}
