package dyn

import (
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// What a value may consist of that is looked at whole. Parts that are the same value are
// counted wherever they are met.
const (
	maxBytes = 8 << 20
	maxParts = 1 << 20
	deepest  = 12_000
)

// weight is what a value consists of.
type weight struct {
	parts int
	bytes int // of its texts
}

// weigh counts a value, up to what one may consist of.
func weigh(v ref.Val) (weight, error) {
	var w weight
	err := w.add(v, deepest)
	return w, err
}

func (w *weight) add(v ref.Val, depth int) error {
	w.parts++
	w.bytes += length(v)
	if depth == 0 || w.parts > maxParts || w.bytes > maxBytes {
		return fmt.Errorf("a value is too large: it may be %d deep, and have %d parts and %d bytes of texts", deepest, maxParts, maxBytes)
	}
	switch x := v.(type) {
	case *types.Optional:
		if x.HasValue() {
			return w.add(x.GetValue(), depth-1)
		}
	case traits.Mapper:
		for it := x.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			if err := w.add(k, depth-1); err != nil {
				return err
			}
			if err := w.add(x.Get(k), depth-1); err != nil {
				return err
			}
		}
	case traits.Lister:
		for it := x.Iterator(); it.HasNext() == types.True; {
			if err := w.add(it.Next(), depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}
