package proof

import "testing"

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
