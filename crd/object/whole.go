package object

import (
	"encoding/json"
	"math"
	"strconv"
)

// A number that was written with a point or an exponent is a float64 in a tree, even
// where it is whole. Kubernetes' JSON library reads no integer from it; what converts
// trees does.

// EncodeTyped is [Encode] for a reader into a Go type, who is shown that a number was
// written with a point or an exponent.
func EncodeTyped(tree map[string]any) ([]byte, error) {
	if !anyWhole(tree) {
		return Encode(tree)
	}
	return Encode(pointed(tree))
}

// anyWhole tells whether a float in a tree would be encoded like an integer.
func anyWhole(v any) bool {
	switch x := v.(type) {
	case float64:
		_, is := whole(x)
		return is
	case map[string]any:
		for _, child := range x {
			if anyWhole(child) {
				return true
			}
		}
	case []any:
		for _, child := range x {
			if anyWhole(child) {
				return true
			}
		}
	}
	return false
}

// pointed is a copy of a tree in which such floats have a point.
func pointed(v any) any {
	switch x := v.(type) {
	case float64:
		if _, is := whole(x); !is {
			return x
		}
		return json.RawMessage(strconv.FormatFloat(x, 'f', 1, 64))
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, child := range x {
			out[k] = pointed(child)
		}
		return out
	case []any:
		if x == nil {
			return x
		}
		out := make([]any, len(x))
		for i, child := range x {
			out[i] = pointed(child)
		}
		return out
	}
	return v
}

// WholeIntegers makes integers of the whole floats in a tree, as conversions of trees to
// Go types do, which kube-apiserver has for applies and strategic merge patches. It
// writes nothing where there are none.
func WholeIntegers(tree map[string]any) { wholeIntegers(tree) }

func wholeIntegers(v any) {
	switch x := v.(type) {
	case map[string]any:
		for k, child := range x {
			if n, ok := whole(child); ok {
				x[k] = n
			} else {
				wholeIntegers(child)
			}
		}
	case []any:
		for i, child := range x {
			if n, ok := whole(child); ok {
				x[i] = n
			} else {
				wholeIntegers(child)
			}
		}
	}
}

// Reread is a tree as it is read again from its text, in which whole floats have no point:
// as what is YAML on its way, though it was JSON, as the body of an apply.
func Reread(tree map[string]any) (map[string]any, error) {
	if !anyWhole(tree) {
		return tree, nil
	}
	text, err := Encode(tree)
	if err != nil {
		return nil, err
	}
	tree, _, err = Parse(text)
	return tree, err
}

// whole is the integer that a float is.
func whole(v any) (int64, bool) {
	f, ok := v.(float64)
	if !ok || f < math.MinInt64 || f >= math.MaxInt64 || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}
