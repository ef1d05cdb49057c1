package merge

import "testing"

// An object or a list where the type has none has nothing that is atomic.
func TestNothingIsAtomicWhereTheTypeIsAnother(t *testing.T) {
	scalar, list, object := &Type{}, &Type{list: &listType{}}, &Type{object: &objectType{}}
	for name, c := range map[string]struct {
		t *Type
		v any
	}{
		"an object without a type": {nil, map[string]any{"a": "b"}}, "an object for a scalar": {scalar, map[string]any{"a": "b"}},
		"an object for a list": {list, map[string]any{"a": "b"}}, "a list without a type": {nil, []any{"a"}},
		"a list for a scalar": {scalar, []any{"a"}}, "a list for an object": {object, []any{"a"}},
	} {
		if got := c.t.Atomics(c.v); len(got) != 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
