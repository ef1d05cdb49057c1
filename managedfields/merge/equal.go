package merge

import "reflect"

// Equal tells that two values are the same. Numbers are compared by what they
// are, whether they are integers or not.
func Equal(a, b any) bool { return equal(a, b, false) }

// equal is Equal; with strict, integers are no floats.
func equal(a, b any, strict bool) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case string:
		y, ok := b.(string)
		return ok && x == y
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case int64:
		switch y := b.(type) {
		case int64:
			return x == y
		case float64:
			return !strict && float64(x) == y
		}
		return false
	case float64:
		switch y := b.(type) {
		case int64:
			return !strict && x == float64(y)
		case float64:
			return x == y
		}
		return false
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && equalMaps(x, y, strict)
	case []any:
		y, ok := b.([]any)
		return ok && equalLists(x, y, strict)
	}
	return false
}

func equalMaps(a, b map[string]any, strict bool) bool {
	if len(a) != len(b) {
		return false
	}
	if sameMap(a, b) {
		return true
	}
	for name, v := range a {
		w, ok := b[name]
		if !ok || !equal(v, w, strict) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any, strict bool) bool {
	if len(a) != len(b) {
		return false
	}
	if sameList(a, b) {
		return true
	}
	for i := range a {
		if !equal(a[i], b[i], strict) {
			return false
		}
	}
	return true
}

// sameMap and sameList tell that two values are one in memory.

func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

func sameList(a, b []any) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// one tells that two containers are one in memory.
func one(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && x != nil && sameMap(x, y)
	case []any:
		y, ok := b.([]any)
		return ok && len(x) > 0 && sameList(x, y)
	}
	return false
}

// same tells that b can stand for a, by looking at nothing inside.
func same(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && sameMap(x, y)
	case []any:
		y, ok := b.([]any)
		return ok && sameList(x, y) && (x == nil) == (y == nil)
	}
	return equal(a, b, true)
}
