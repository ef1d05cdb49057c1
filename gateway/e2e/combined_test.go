package e2e

import (
	"testing"

	"github.com/wasmgate/wasmgate/gateway/gatewaytest"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/builtins"
	"github.com/wasmgate/wasmgate/gateway/gatewaytest/exchange/combined"
)

// TestTableOfCombinations_VERB01 sends generated requests to subresources, with
// parameters of queries, media types and identities that the one who asks takes
// on, and compares each reply with kube-apiserver's, or with the gateway's own
// where that is listed as another.
func TestTableOfCombinations_VERB01(t *testing.T) {
	stories := combined.Stories()
	all := newTable(t, combined.Recordings, gatewaytest.Shared(t).External, stories)
	for _, story := range stories {
		t.Run(story.Name, func(t *testing.T) {
			t.Parallel()
			compareWith(t, all, story, combined.Recordings, builtins.Texts)
		})
	}
}
