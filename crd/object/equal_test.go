package object

import (
	"fmt"
	"testing"
)

// Of these values each equals only itself.
func TestEqualIsExact(t *testing.T) {
	all := []any{
		nil, true, false, int64(0), int64(1), 1.0, 0.5, "", "1", "true",
		map[string]any{}, map[string]any(nil), map[string]any{"a": int64(1)}, map[string]any{"b": int64(1)}, map[string]any{"a": 1.0}, map[string]any{"a": nil},
		map[string]any{"a": int64(1), "b": int64(2)}, map[string]any{"a": int64(1), "c": int64(2)}, map[string]any{"a": map[string]any{"b": "x"}}, map[string]any{"a": map[string]any{"b": "y"}},
		[]any{}, []any(nil), []any{nil}, []any{int64(1)}, []any{int64(2)}, []any{int64(1), int64(2)}, []any{int64(2), int64(1)}, []any{[]any{}}, []any{map[string]any{}},
		Managed("[{}]"), Managed("[{},{}]"), Managed(""),
	}
	for i, a := range all {
		for j, b := range all {
			if got := Equal(a, b); got != (i == j) {
				t.Errorf("%#v and %#v are equal: %t", a, b, got)
			}
		}
		if !Equal(a, CloneValue(a)) || fmt.Sprintf("%#v", CloneValue(a)) != fmt.Sprintf("%#v", a) {
			t.Errorf("the copy of %#v is %#v", a, CloneValue(a))
		}
	}
}

func TestACopySharesNothingThatChanges(t *testing.T) {
	in := map[string]any{"m": map[string]any{"l": []any{map[string]any{"x": int64(1)}, "s"}}, "raw": Managed("[]")}
	out := Clone(in)
	list := out["m"].(map[string]any)["l"].([]any)
	list[0].(map[string]any)["x"] = int64(2)
	list[1] = "t"
	out["m"].(map[string]any)["new"] = true
	want := map[string]any{"m": map[string]any{"l": []any{map[string]any{"x": int64(1)}, "s"}}, "raw": Managed("[]")}
	if !Equal(in, want) {
		t.Errorf("a change of the copy shows in %v", in)
	}
	if Clone(nil) != nil {
		t.Error("nothing becomes something")
	}
}
