package draft

import (
	"fmt"
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

// The words of a description are those that say something, each once, and the first ones only.
func TestWordsOfDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"The a of it":           "",
		"x y zone":              "zone", // letters say nothing
		"Zones, ZONES and zone": "zone",
		"HOST:PORT (v4)":        "host port v4",
		"policies boxes classes gas bus glass ties axes": "policy box class gas bus glass tie axe",
		"max of msgs": "maximum message",
	} {
		if got := strings.Join(words(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var many []string
	for i := range maxWords + 1 {
		many = append(many, fmt.Sprint("w", i))
	}
	for _, n := range []int{maxWords - 1, maxWords, maxWords + 1} {
		if got := words(strings.Join(many[:n], " ")); !slices.Equal(got, many[:min(n, maxWords)]) {
			t.Errorf("of %d words %d: %q", n, len(got), got)
		}
	}
}

// Names say the same by their words, by those of the one that the other has, or by their
// letters, unless they are too short for that, or too long.
func TestNamesSayTheSame(t *testing.T) {
	long := strings.Repeat("q", 62)
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"maxSurge", "max-surge", 0.95},
		{"cronspec", "cronSpec", 0.95},
		{"", "", 0.95},
		{"", "zone", 0},
		{"zone", "", 0},
		{"oneTwo", "twoOne", 0.85},
		{"zone", "zoneOfAll", 0.65},
		{"zoneOfAll", "zone", 0.65},
		{"zoneOfAll", "zoneOf", 0.7},
		{"zoneA", "zoneB", 0.62},
		{"abcde", "abcdf", 0.62},
		{"abcd", "abce", 0.575},
		{"abc", "abd", 0},
		{"abcdefgh", "zyxwvuts", 0},
		{long + "a", long + "b", 0.785},
		{long + "aa", long + "bb", 0},
	} {
		if got := similar(tokens(c.a), tokens(c.b)); got < c.want-0.001 || got > c.want+0.001 {
			t.Errorf("%q and %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
