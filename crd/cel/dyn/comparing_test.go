package dyn

import "testing"

func TestUnlike(t *testing.T) {
	item := func(a, b any) any { return map[string]any{"a": a, "b": b} }
	self := map[string]any{
		"texts": []any{"a", "b", "1", int64(1)}, "twice": []any{"a", "b", "a"}, "none": []any{},
		"items": []any{item("x", "y"), item("x", "z"), map[string]any{"b": "y"}}, "same": []any{item("x", "y"), item("x", "y")},
	}
	for text, want := range map[string]bool{
		"unlike(self.texts, [])":            true,
		"unlike(self.twice, [])":            false,
		"unlike(self.none, ['a'])":          true,
		"unlike(self.items, [])":            true,
		"unlike(self.items, ['a'])":         false,
		"unlike(self.items, ['b'])":         false,
		"unlike(self.items, ['a', 'b'])":    true,
		"unlike(self.items, ['none'])":      false,
		"unlike(self.same, [])":             false,
		"unlike(self.same, ['b', 'a'])":     false,
		"unlike([{'a': {'b': 1}}, {}], [])": true,
	} {
		if got, err := New(text).True(Variables{Self: self}); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if Bounded("unlike(self.texts, [])").Check() == nil {
		t.Error("users' texts may use what is not counted")
	}
	for _, text := range []string{"unlike(self, [])", "unlike('text', [])", "unlike([b'x'], [])"} {
		if _, err := New(text).True(Variables{Self: self}); err == nil {
			t.Errorf("%s can be evaluated", text)
		}
	}
}
