package proof

import (
	"maps"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// A branch of a oneOf is taken by leaving out what only the others ask for, and nothing that
// the schema itself asks for.
func TestOneBranchIsTaken(t *testing.T) {
	var s schema
	if err := yaml.UnmarshalStrict([]byte(`
type: object
required: [c]
properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}
oneOf: [{required: [a, c]}, {required: [b]}, {required: [a, b]}]
`), &s); err != nil {
		t.Fatal(err)
	}
	for branch, want := range map[int][2][]string{
		-1: {{"a", "b", "c", "d"}, {"c"}},
		0:  {{"a", "c", "d"}, {"a", "c"}},
		1:  {{"b", "c", "d"}, {"b", "c"}},
		2:  {{"a", "b", "c", "d"}, {"a", "b", "c"}},
		3:  {{"a", "c", "d"}, {"a", "c"}}, // round again
	} {
		m := merged(&s, branch)
		required := slices.Compact(slices.Sorted(slices.Values(m.Required)))
		if got := slices.Sorted(maps.Keys(m.Properties)); !slices.Equal(got, want[0]) || !slices.Equal(required, want[1]) {
			t.Errorf("branch %d has %q of which %q are required, want %q", branch, got, required, want)
		}
	}
	if len(s.Properties) != 4 || len(s.OneOf) != 3 || len(s.Required) != 1 {
		t.Errorf("the schema itself changed: %v", s)
	}
}
