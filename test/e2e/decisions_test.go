package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story"
	"github.com/wasmgate/wasmgate/test/story/decisions"
)

// TestTableOfDecisions_RBAC tells what roles and bindings allow, and compares each
// reply with kube-apiserver's.
func TestTableOfDecisions_RBAC(t *testing.T) {
	stories := decisions.Stories()
	all := newTable(t, decisions.Table, harness.Shared(t).External, stories)
	for _, told := range stories {
		t.Run(told.Name, func(t *testing.T) {
			t.Parallel()
			all.tellOver(t, told, story.TextsOf)
		})
	}
}
