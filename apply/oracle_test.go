package apply_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// Every difference that was ever found stays away.
func TestOracleCases_SSA(t *testing.T) {
	names, err := filepath.Glob("testdata/oracle/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c := &oracleCase{}
			if err := json.Unmarshal(text, c); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				switch d, err := runCase(c); {
				case err != nil:
					t.Error(err)
				case d != nil:
					t.Errorf("%s: %v", c.Note, d)
				}
			})
		})
	}
}

// The random sequences come to everything that the comparison is for: without
// that it would show little.
func TestOracleCasesAreOfEveryKind(t *testing.T) {
	seen := map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		at := &setting{}
		for seed := range uint64(200) {
			s, err := newSequence(seed, at)
			for more := true; more && (err == nil || isDifference(err)); {
				more, err = s.next()
			}
			if err != nil && !isDifference(err) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for what, n := range s.seen {
				seen[what] += n
			}
		}
	})
	for _, what := range []string{
		"create", "update", "update failed", "update same owners", "update status", "apply", "apply status",
		"apply conflict", "apply status conflict", "apply failed", "a built-in kind", "the oldest are merged", "before the first apply",
		"two versions", "managedFields of a client", "cleared managedFields", "taken over",
	} {
		if seen[what] == 0 {
			t.Errorf("no %s among %s", what, strings.Join(slices.Sorted(maps.Keys(seen)), ", "))
		}
	}
}
