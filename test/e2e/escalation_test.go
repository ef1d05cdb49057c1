package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/story/escalation"
)

// TestTableOfEscalation has users write roles and bindings that grant what they have,
// and what they do not, and compares each reply with kube-apiserver's.
func TestTableOfEscalation(t *testing.T) {
	tellAll(t, escalation.Stories(), escalation.Table)
}
