package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/builtins"
	"github.com/wasmgate/wasmgate/test/story/combined"
)

// TestTableOfCombinations_VERB01 sends generated requests to subresources, with
// parameters of queries, media types and identities that the one who asks takes
// on, and compares each reply with kube-apiserver's, or with the gateway's own
// where that is listed as another.
func TestTableOfCombinations_VERB01(t *testing.T) {
	stories := combined.Stories()
	all := newTable(t, combined.Table, harness.Shared(t).External, stories)
	for _, told := range stories {
		t.Run(told.Name, func(t *testing.T) {
			t.Parallel()
			all.tellOver(t, told, builtins.Texts)
		})
	}
}
