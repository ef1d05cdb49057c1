package object

import "reflect"

// Equal tells whether two trees hold the same. It is exact about types: the
// integer 1 is not the float 1. What is one in memory is not looked into.
func Equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		if sameMap(x, y) {
			return true
		}
		for k, v := range x {
			if w, ok := y[k]; !ok || !Equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) || (x == nil) != (y == nil) {
			return false
		}
		if sameList(x, y) {
			return true
		}
		for i, v := range x {
			if !Equal(v, y[i]) {
				return false
			}
		}
		return true
	case Managed:
		y, ok := b.(Managed)
		return ok && string(x) == string(y)
	default:
		switch b.(type) {
		case map[string]any, []any, Managed:
			return false
		}
		return a == b
	}
}

// sameMap and sameList tell that two values are one in memory.

func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

func sameList(a, b []any) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Clone copies a tree.
func Clone(tree map[string]any) map[string]any {
	if tree == nil {
		return nil
	}
	out := make(map[string]any, len(tree))
	for k, v := range tree {
		out[k] = CloneValue(v)
	}
	return out
}

// CloneValue copies a value of a tree.
func CloneValue(v any) any {
	switch x := v.(type) {
	case map[string]any:
		return Clone(x)
	case []any:
		if x == nil {
			return x
		}
		out := make([]any, len(x))
		for i := range x {
			out[i] = CloneValue(x[i])
		}
		return out
	default:
		return v
	}
}
