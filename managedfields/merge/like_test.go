package merge

import (
	"fmt"
	"maps"
	"testing"
)

// A value that shares parts with one that is valid is found wrong in its other parts, and
// there alone, whatever the two have at other places.
func TestWhatIsSharedWithSomethingValidIsNotLookedInto(t *testing.T) {
	o := &Type{object: &objectType{fields: map[string]*field{
		"texts": newField("texts", &Type{list: &listType{atomic: true, element: &Type{scalar: text}}}),
		"parts": newField("parts", &Type{list: &listType{element: &Type{object: &objectType{fields: map[string]*field{"n": newField("n", &Type{scalar: numeric})}}}, keys: []listKey{{name: "n"}}}}),
		"any":   newField("any", deducedType),
	}}}
	valid := map[string]any{
		"texts": []any{"a", "b"}, "parts": []any{map[string]any{"n": int64(1)}, map[string]any{"n": int64(2)}}, "any": map[string]any{"x": []any{int64(1)}},
	}
	if err := o.Validate(valid, true); err != nil {
		t.Fatal(err)
	}
	for name, others := range map[string][]any{
		"texts": {nil, "a", []any{"a", int64(1)}, []any{}, valid["texts"], valid["parts"], map[string]any{}},
		"parts": {nil, valid["parts"], valid["texts"], []any{valid["parts"].([]any)[1], map[string]any{"n": "x"}}, []any{valid["parts"].([]any)[0], valid["parts"].([]any)[0]}, []any{map[string]any{}}},
		"any":   {nil, valid["any"], valid["texts"], int64(1)},
		"more":  {nil, valid["texts"]},
	} {
		for _, v := range others {
			changed := maps.Clone(valid)
			changed[name] = v
			for _, duplicates := range []bool{true, false} {
				want, got := o.Validate(changed, duplicates), o.ValidateLike(changed, valid, duplicates)
				if fmt.Sprint(want) != fmt.Sprint(got) {
					t.Errorf("%s %v: %v, by itself %v", name, v, got, want)
				}
			}
		}
	}
	broken := valid["texts"].([]any)
	broken[0] = int64(1)
	if err := o.ValidateLike(valid, valid, true); err != nil {
		t.Errorf("what is shared was looked into: %v", err)
	}
}

// Lists of which no schema speaks are values as a whole, whatever is in them.
func TestListsInListsHaveNoKeys(t *testing.T) {
	one := int64(1)
	v := map[string]any{"any": []any{[]any{one, one}, []any{nil}, []any{map[string]any{}}, []any{[]any{one, one}}}}
	o := &Type{object: &objectType{fields: map[string]*field{"any": newField("any", deducedType)}}}
	if err := o.Validate(v, false); err != nil {
		t.Error(err)
	}
}
