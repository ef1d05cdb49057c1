package plan

import "testing"

// A text is looked for in the objects around, as far out as there are any.
func TestTextsAmongObjectsAround(t *testing.T) {
	inner := map[string]any{"name": "a", "list": []any{map[string]any{"name": "b"}, "c"}}
	outer := map[string]any{"name": "d", "inner": inner}
	for _, c := range []struct {
		spots []string
		text  string
		want  bool
	}{
		{[]string{"0.name"}, "a", true},
		{[]string{"0.name"}, "d", false},
		{[]string{"1.name"}, "d", true},
		{[]string{"1.name", "0.name"}, "a", true},
		{[]string{"1.inner.name"}, "a", true},
		{[]string{"0.list[].name"}, "b", true},
		{[]string{"0.list[]"}, "c", true},
		{[]string{"0.list.name"}, "b", false},
		{[]string{"2.name"}, "a", false}, // there is nothing so far out
		{[]string{"9.name", "0.name"}, "a", true},
		{nil, "a", false},
	} {
		var spots []spot
		for _, text := range c.spots {
			at, err := newSpot(text)
			if err != nil {
				t.Fatal(text, err)
			}
			spots = append(spots, at)
		}
		if got := found(spots, []any{inner, outer}, c.text); got != c.want {
			t.Errorf("%q at %q: %t", c.text, c.spots, got)
		}
	}
	for _, text := range []string{"", "name", "x.name", ".name", "0.list.[].name"} {
		if _, err := newSpot(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
