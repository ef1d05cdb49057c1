package apply_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// The random sequences come to everything that the comparison is for: without
// that it would show little.
func TestOracleCasesAreOfEveryKind(t *testing.T) {
	seen := map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		for seed := range uint64(100) {
			s, err := newSequence(seed)
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
		"apply conflict", "apply status conflict", "apply failed",
	} {
		if seen[what] == 0 {
			t.Errorf("no %s among %s", what, strings.Join(slices.Sorted(maps.Keys(seen)), ", "))
		}
	}
}
