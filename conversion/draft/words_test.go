package draft

import (
	"slices"
	"strings"
	"testing"
)

// Names fall into words where their writing says so, and never into an empty one; of a name
// without end only the first words are read.
func TestNamesFallIntoWords(t *testing.T) {
	for name, want := range map[string][]string{
		"maxSurge":         {"maximum", "surge"},
		"":                 nil,
		"-":                nil,
		"--http--port-":    {"http", "port"},
		"x_y.z":            {"x", "y", "z"},
		"HTTPPort":         {"http", "port"},
		"podCIDR":          {"pod", "cidr"},
		"A":                {"a"},
		"ipV4":             {"address", "v4"},
		"Über-wachung":     {"über", "wachung"},
		"a-b-c-d-e-f-g-hh": {"a", "b", "c", "d", "e", "f", "g", "hh"},
	} {
		if got := tokens(name); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := tokens(strings.Repeat("ab-", 100)); len(got) != maxTokens || slices.Contains(got, "") {
		t.Errorf("a hundred words: %q", got)
	}
}
