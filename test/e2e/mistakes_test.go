package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/test/harness"
	"github.com/wasmgate/wasmgate/test/story/mistakes"
)

// TestTableOfMistakes_VERB01 makes wrong objects of every built-in kind, and
// compares whether each is taken, and if not, by which code and for which reason,
// with kube-apiserver's answer, or with the gateway's own where that is listed as
// another.
func TestTableOfMistakes_VERB01(t *testing.T) {
	stories, err := mistakes.Stories()
	if err != nil {
		t.Fatal(err)
	}
	all := newTable(t, mistakes.Table, harness.Shared(t).External, stories)
	all.Ignored = mistakes.Fields
	for _, told := range stories {
		t.Run(told.Name, func(t *testing.T) {
			t.Parallel()
			all.tellOver(t, told, mistakes.Texts)
		})
	}
}
