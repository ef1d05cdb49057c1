package merge

import "testing"

func TestEqual(t *testing.T) {
	type m = map[string]any
	type l = []any
	shared, list := m{"a": l{"x"}}, l{m{}}
	for _, test := range []struct {
		a, b   any
		equal  bool
		strict bool
	}{
		{nil, nil, true, true}, {nil, "", false, false}, {"x", "x", true, true}, {"x", "y", false, false}, {"1", int64(1), false, false},
		{true, true, true, true}, {true, false, false, false}, {true, "true", false, false},
		{int64(1), int64(1), true, true}, {int64(1), int64(2), false, false}, {int64(1), 1.0, true, false}, {1.0, int64(1), true, false},
		{int64(1), 1.5, false, false}, {1.5, int64(1), false, false}, {1.5, 1.5, true, true}, {1.5, 2.5, false, false},
		{int64(1), "1", false, false}, {1.5, "1.5", false, false},
		{m{}, m{}, true, true}, {m{}, nil, false, false}, {m{"a": nil}, m{}, false, false}, {m{"a": nil}, m{"b": nil}, false, false},
		{m{"a": int64(1)}, m{"a": 1.0}, true, false}, {shared, shared, true, true}, {m{}, l{}, false, false},
		{l{}, l{}, true, true}, {l{}, nil, false, false}, {l{"x"}, l{"x"}, true, true}, {l{"x"}, l{"y"}, false, false}, {l{"x"}, l{"x", "y"}, false, false},
		{l{int64(1)}, l{1.0}, true, false}, {list, list, true, true}, {l{}, m{}, false, false},
		{1, 1, false, false}, // nothing that trees hold
	} {
		if Equal(test.a, test.b) != test.equal || equal(test.a, test.b, true) != test.strict {
			t.Errorf("%v and %v: %v, strictly %v", test.a, test.b, Equal(test.a, test.b), equal(test.a, test.b, true))
		}
	}
	if !same(shared, shared) || same(shared, m{"a": l{"x"}}) || same(l(nil), l{}) || !same(list, list) || same(list, l{m{}}) || same(list, shared) || same(shared, list) || !same("x", "x") {
		t.Error("what is the same is taken for another")
	}
}

// Several items of one identity are one value.
func TestDuplicatesAreComparedAsOneValue_SSA18(t *testing.T) {
	set := &Type{list: &listType{element: &Type{scalar: anyScalar}}}
	for _, test := range []struct {
		a, b                     []any
		added, modified, removed int
	}{
		{[]any{int64(1), int64(1)}, []any{1.0, 1.0}, 0, 0, 0},
		{[]any{int64(1), int64(1), "x"}, []any{1.0, 1.0, 1.0, "x"}, 0, 1, 0},
		{[]any{"x", "x"}, []any{"x"}, 1, 0, 1},
		{[]any{"x", "x"}, []any{}, 0, 0, 1},
		{[]any{"x"}, []any{"x", "x"}, 1, 0, 1},
		{[]any{}, []any{"x", "x"}, 1, 0, 0},
		{[]any{"x", "y"}, []any{"y", "x"}, 0, 0, 0},
	} {
		d := set.Compare(test.a, test.b)
		if d.Added.Size() != test.added || d.Modified.Size() != test.modified || d.Removed.Size() != test.removed {
			t.Errorf("%v and %v: added %v, modified %v, removed %v", test.a, test.b, d.Added, d.Modified, d.Removed)
		}
	}
}

// What is applied stays as it was only where it is the same number: a float that is next
// to a large integer is another one.
func TestNumbersThatAreAppliedAreKept(t *testing.T) {
	scalar := &Type{scalar: numeric}
	for _, test := range []struct{ live, config, want any }{
		{int64(9007199254740993), 9007199254740992.0, 9007199254740992.0}, {9007199254740992.0, int64(9007199254740993), int64(9007199254740993)},
		{int64(1), int64(1), int64(1)}, {int64(1), int64(2), int64(2)}, {1.5, 1.5, 1.5},
	} {
		if got := scalar.Merge(test.live, test.config); got != test.want {
			t.Errorf("%v over %v is %v", test.config, test.live, got)
		}
	}
}
