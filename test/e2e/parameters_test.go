package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/builtins"
	"github.com/wasmgate/wasmgate/test/story/parameters"
)

// TestTableOfParameters_DRY01 sends queries with every parameter that
// kube-apiserver reads, right and wrong, with every verb, and compares each reply
// with kube-apiserver's, or with the gateway's own where that is listed as another,
// and what is there afterwards.
func TestTableOfParameters_DRY01(t *testing.T) {
	stories := parameters.Stories()
	all := newTable(t, parameters.Table, harness.Shared(t).External, stories)
	for _, told := range stories {
		t.Run(told.Name, func(t *testing.T) {
			t.Parallel()
			all.tellOver(t, told, builtins.Texts)
		})
	}
}
