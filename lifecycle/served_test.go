package lifecycle

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
)

// releases reads one release a line: the preferred version, then all; those with a
// minus are deprecated.
func releases(text string) (out []Served) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		s := Served{Preferred: words[0]}
		for _, v := range words[1:] {
			name, deprecated := strings.CutSuffix(v, "-")
			s.Versions = append(s.Versions, name)
			if deprecated {
				s.Deprecated = append(s.Deprecated, name)
			}
		}
		out = append(out, s)
	}
	return out
}

// documented is the table of rule 4b, X to X+15: the preferred version, then all.
//
//go:embed testdata/releases.txt
var documented string

func TestReleases(t *testing.T) {
	t.Run("VER-13 the table of the documents", func(t *testing.T) {
		table := releases(documented)
		if len(table) != 16 {
			t.Fatalf("%d releases", len(table))
		}
		if got := CheckReleases(table); got != nil {
			t.Error(got)
		}
		// Once what was preferred is not alpha, whoever goes back finds what was stored.
		for i := 3; i < len(table); i++ {
			if !slices.Contains(table[i-1].Versions, table[i].Preferred) {
				t.Errorf("X+%d stores %s, which X+%d does not know", i, table[i].Preferred, i-1)
			}
		}
	})
	for name, test := range map[string]struct{ line, instead, want string }{
		"VER-13 the new version is preferred at once":           {"v1beta1  v1beta2 v1beta1-\n", "v1beta2  v1beta2 v1beta1-\n", "4b"},
		"VER-13 what is preferred is not there":                 {"v1       v2alpha1 v1\n", "v2       v2alpha1 v1\n", "4b"},
		"VER-13 a stable version is preferred at once":          {"v1       v2 v2beta2- v2beta1- v1-\n", "v2       v2 v2beta2- v2beta1- v1-\n", "4b"},
		"VER-13 what was preferred goes with it":                {"v1       v1 v1beta2-\n", "v1       v1\n", "4a 4b"},
		"VER-11 a beta version goes after two releases":         {"v1beta2  v1 v1beta1- v1beta2-\n", "v1beta2  v1 v1beta2-\n", "4a"},
		"VER-11 a beta version goes without having been so":     {"v1       v2beta2 v2beta1- v1\n", "v1       v2beta2 v1\n", "4a"},
		"VER-11 a stable version goes":                          {"v2       v2 v1-", "v2       v2", "4a"},
		"VER-10 a stable version gives way to a beta version":   {"v1       v2beta1 v1\n", "v1       v2beta1 v1-\n", "3"},
		"VER-10 a stable version gives way to an alpha version": {"v1       v2alpha1 v1\n", "v1       v2alpha1 v1-\n", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := strings.Replace(documented, test.line, test.instead, 1)
			if wrong == documented {
				t.Fatal("nothing is wrong")
			}
			if got := CheckReleases(releases(wrong)); violated(got) != test.want {
				t.Errorf("%v, want rule %s", got, test.want)
			}
		})
	}
}
