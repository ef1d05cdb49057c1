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
