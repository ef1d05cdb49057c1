package conversion

import (
	"context"
	"fmt"

	"github.com/wasmgate/wasmgate/sdk/rawjson"
)

// None is the conversion strategy of the same name: nothing but apiVersion
// changes. The zero value is ready to use.
type None struct{}

// Convert copies each object with its apiVersion replaced.
func (None) Convert(ctx context.Context, desired string, objects [][]byte) ([][]byte, error) {
	out := make([][]byte, len(objects))
	version := rawjson.AppendString(nil, desired)
	for i, data := range objects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := look(data)
		if err != nil {
			return nil, fmt.Errorf("object at index %d: %w", i, err)
		}
		if v.apiVersion == nil {
			return nil, fmt.Errorf("object at index %d has no apiVersion", i)
		}
		end := v.apiVersionAt + len(v.apiVersion)
		o := make([]byte, 0, len(data)-len(v.apiVersion)+len(version))
		o = append(append(o, data[:v.apiVersionAt]...), version...)
		out[i] = append(o, data[end:]...)
	}
	return out, nil
}

// Epoch is constant: None never changes.
func (None) Epoch() uint64 { return 0 }
