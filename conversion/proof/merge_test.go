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

// A branch says more of the fields that there are, brings none of its own, and takes out
// what must not be there.
func TestWhatABranchSays(t *testing.T) {
	var s schema
	if err := yaml.UnmarshalStrict([]byte(`
type: object
properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}
anyOf:
- properties: {a: {format: date, enum: ["2020-01-01"]}, e: {type: string}, z: {type: string}}
  not: {required: [b, c]}
`), &s); err != nil {
		t.Fatal(err)
	}
	m := merged(&s, 0)
	if got := slices.Sorted(maps.Keys(m.Properties)); !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("the fields are %q", got)
	}
	if a := m.Properties["a"]; a.Type != "string" || a.Format != "date" || len(a.Enum) != 1 {
		t.Errorf("%+v", a)
	}
}

// Of what a schema says and what its branches say the stricter one holds, whichever has more
// to say.
func TestTheStricterConditionHolds(t *testing.T) {
	var s schema
	if err := yaml.UnmarshalStrict([]byte(`
type: object
minLength: 3
maxLength: 9
minimum: 3
maxItems: 5
items: {type: string, minLength: 1}
allOf: [{minLength: 5, maxLength: 20, maximum: 7, items: {maxLength: 2}}, {maximum: 8, minItems: 2, pattern: "^a"}, {minimum: 4}]
`), &s); err != nil {
		t.Fatal(err)
	}
	m := merged(&s, -1)
	if *m.MinLength != 5 || *m.MaxLength != 9 || *m.Minimum != 4 || *m.Maximum != 7 || *m.MinItems != 2 || *m.MaxItems != 5 || m.MinProperties != nil || m.Pattern != "^a" {
		t.Errorf("%+v", m)
	}
	if item := m.Items.Schema; item.Type != "string" || *item.MinLength != 1 || item.MaxLength == nil || *item.MaxLength != 2 {
		t.Errorf("an item: %+v", item)
	}
	if *s.MinLength != 3 || s.Maximum != nil || s.Items.Schema.MaxLength != nil {
		t.Errorf("the schema itself changed: %+v", s)
	}
}
