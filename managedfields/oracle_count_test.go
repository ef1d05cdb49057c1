package managedfields_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// count notes what the oracle said.
func (r *run) count(op *oracleOp, said answer, before []byte) {
	what := strings.TrimSpace(op.Do + " " + op.Subresource)
	switch {
	case apierrors.IsConflict(said.err):
		what += " conflict"
	case said.err != nil:
		what += " failed"
	case op.Do == "update" && withoutTimes(before) == withoutTimes(said.managed):
		what += " same owners"
	}
	r.seen[what]++
	for name, is := range map[string]bool{
		"a built-in kind":           r.world.from.builtin != nil,
		"the oldest are merged":     bytes.Contains(said.managed, []byte(`"ancient-changes"`)),
		"before the first apply":    bytes.Contains(said.managed, []byte(`"before-first-apply"`)),
		"two versions":              bytes.Contains(said.managed, []byte("/v1\"")) && bytes.Contains(said.managed, []byte("/v2\"")),
		"managedFields of a client": len(op.Managed) > 0,
		"cleared managedFields":     string(op.Managed) == `[{}]`,
		"taken over":                op.Force && op.Do == "apply" && said.err == nil,
	} {
		if is {
			r.seen[name]++
		}
	}
}

// count adds what was compared at one seed.
func (s *setting) count(seen map[string]int) {
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	for what, n := range seen {
		s.seen[what] += n
	}
}

// often is how often a thousand sequences came to what the comparison is for,
// once. With other seeds, and fewer, it is less.
var often = map[string]int{
	"create": 628, "update": 3716, "update failed": 74, "update same owners": 1483, "update status": 257, "apply": 2795, "apply status": 473,
	"apply conflict": 674, "apply status conflict": 32, "apply failed": 282, "a built-in kind": 1381, "the oldest are merged": 226, "before the first apply": 371,
	"two versions": 1609, "managedFields of a client": 678, "cleared managedFields": 24, "taken over": 1293,
}

// ofEveryKind fails if the sequences have not come to all that the comparison
// is for, a tenth as often as so many did: without that it would show little.
func ofEveryKind(t *testing.T, settings []*setting) {
	all := &setting{}
	for _, s := range settings {
		all.count(s.seen)
	}
	for what, n := range often {
		if least := max(1, n*int(*oracleSequences)/oracleShare/1000/10); all.seen[what] < least {
			t.Errorf("%d times %s, want %d, among %s", all.seen[what], what, least, strings.Join(slices.Sorted(maps.Keys(all.seen)), ", "))
		}
	}
}
