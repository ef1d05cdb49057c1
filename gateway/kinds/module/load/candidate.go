package load

import (
	"crypto/rand"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// newCandidate is a revision that begins to wait.
func newCandidate(rev plugins.Revision) *module.Candidate {
	var times [4]byte
	_, _ = rand.Read(times[:]) // never fails
	return &module.Candidate{Revision: module.RevisionName(rev) + "-" + hex.EncodeToString(times[:]), Digest: rev.Digest}
}

// nextCandidate is the status.candidate that goes with an outcome. A report stays
// with its revision, and a revision that was promoted and cannot be loaded stays
// what waits.
func nextCandidate(obj *unstructured.Unstructured, old *module.Candidate, problem *module.Refusal, digestOf func([]byte) string) *module.Candidate {
	if problem == nil || !module.Promotes(obj) {
		return nil
	}
	rev, unusable := module.Wanted(obj, digestOf)
	switch {
	case unusable != nil:
		return nil
	case old.Is(module.RevisionName(*rev)):
		return old
	case problem.Reason == awaitingPromotion:
		return newCandidate(*rev)
	}
	return nil
}
