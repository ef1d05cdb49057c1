package apply_test

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

// ofEveryKind fails if the sequences have not come to all that the comparison
// is for: without that it would show little.
func ofEveryKind(t *testing.T, settings []*setting) {
	all := &setting{}
	for _, s := range settings {
		all.count(s.seen)
	}
	for _, what := range []string{
		"create", "update", "update failed", "update same owners", "update status", "apply", "apply status",
		"apply conflict", "apply status conflict", "apply failed", "a built-in kind", "the oldest are merged", "before the first apply",
		"two versions", "managedFields of a client", "cleared managedFields", "taken over",
	} {
		if all.seen[what] == 0 {
			t.Errorf("no %s among %s", what, strings.Join(slices.Sorted(maps.Keys(all.seen)), ", "))
		}
	}
}
