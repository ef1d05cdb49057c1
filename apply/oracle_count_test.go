package apply_test

import (
	"bytes"
	"strings"

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
