// Package function owns converters that are part of this program: a function on
// trees becomes a [conversion.Converter].
//
// It must not know which kinds there are, nor who stores or serves objects.
package function

import (
	"context"
	"fmt"
	"maps"

	"github.com/wasmgate/wasmgate/conversion"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Converter brings an object, in place, to the desired apiVersion. What it does to
// metadata besides labels and annotations counts for nothing.
//
// It is trusted with the size of these two, which [conversion.Checked] bounds: what
// one version cannot say may be kept in an annotation that is as large as that.
type Converter func(obj map[string]any, desired string) error

var _ conversion.Sound = Converter(nil)

// KeepsContract implements [conversion.Sound].
func (c Converter) KeepsContract() {}

// Epoch is constant: a function never changes.
func (c Converter) Epoch() uint64 { return 0 }

// Convert implements [conversion.Converter].
func (c Converter) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	out := make([][]byte, len(objects))
	for i, data := range objects {
		err := ctx.Err()
		if err != nil {
			return nil, err
		}
		if have, ok := object.String(object.Field(data, "apiVersion")); ok && have == desired {
			out[i] = data
			continue
		}
		if out[i], err = c.one(data, desired); err != nil {
			return nil, &conversion.Error{To: desired, Reason: fmt.Sprintf("cannot convert object at index %d to %s: %v", i, desired, err), Cause: err}
		}
	}
	return out, nil
}

func (c Converter) one(data []byte, desired string) ([]byte, error) {
	tree, _, err := object.ParseObject(data)
	if err != nil {
		return nil, err
	}
	kind, before := tree["kind"], tree["metadata"]
	meta, hasMeta := before.(map[string]any)
	meta = maps.Clone(meta)
	if err := c(tree, desired); err != nil {
		return nil, err
	}
	after, _ := tree["metadata"].(map[string]any)
	tree["apiVersion"], tree["kind"] = desired, kind
	if !hasMeta {
		delete(tree, "metadata")
		return object.Encode(tree)
	}
	for _, name := range []string{"labels", "annotations"} {
		delete(meta, name)
		if v, ok := after[name]; ok {
			meta[name] = v
		}
	}
	tree["metadata"] = meta
	return object.Encode(tree)
}
