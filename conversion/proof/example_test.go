package proof

import (
	"math"
	"slices"
	"testing"
)

// A text that fits is shown whole, and one that does not ends at the end of a character.
func TestTextsAreCut(t *testing.T) {
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"abc", 4, "abc"}, {"abc", 3, "abc"}, {"abc", 2, "ab..."}, {"aé", 3, "aé"}, {"aéb", 2, "a..."}, {"é", 1, "..."}, {"", 0, ""},
	} {
		if got := cut(tc.text, tc.most); got != tc.want {
			t.Errorf("%q in %d: %q", tc.text, tc.most, got)
		}
	}
}

// Simpler values come to an end: what is simple has none that is simpler.
func TestPlainerValuesEnd(t *testing.T) {
	for _, v := range []any{"", "a", "ä", int64(0), int64(1), int64(9), true, nil} {
		if simpler := plainer(v); len(simpler) != 0 {
			t.Errorf("%v: %v", v, simpler)
		}
	}
	for _, v := range []any{"ab", "äöü", int64(10), int64(-1), int64(math.MinInt64), 2.5} {
		if simpler := plainer(v); len(simpler) == 0 || slices.Contains(simpler, v) {
			t.Errorf("%v: %v", v, simpler)
		}
	}
}

// What a schema says of a value alone is kept at both ends.
func TestWhatFits(t *testing.T) {
	two, four, low, high, step := int64(2), int64(4), 2.0, 4.0, 2.0
	text, number := &schema{MinLength: &two, MaxLength: &four}, &schema{Minimum: &low, Maximum: &high}
	inside := &schema{Minimum: &low, Maximum: &high, ExclusiveMinimum: true, ExclusiveMaximum: true}
	for i, c := range []struct {
		s    *schema
		v    any
		want bool
	}{
		{text, "é", false}, {text, "éé", true}, {text, "éééé", true}, {text, "ééééé", false}, {text, int64(1), true},
		{&schema{MinLength: &two}, "a", false}, {&schema{MaxLength: &four}, "abcde", false}, {&schema{}, "", true},
		{number, int64(1), false}, {number, 2.0, true}, {number, int64(4), true}, {number, 4.5, false},
		{inside, int64(2), false}, {inside, 2.5, true}, {inside, int64(4), false}, {inside, nil, true},
		{&schema{MultipleOf: &step}, int64(3), false}, {&schema{MultipleOf: &step}, int64(6), true},
	} {
		if got := fits(c.s, nil, c.v); got != c.want {
			t.Errorf("%d: %v fits: %v", i, c.v, got)
		}
	}
}
