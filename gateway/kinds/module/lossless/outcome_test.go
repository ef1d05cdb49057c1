package lossless_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/conversion/proof"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/lossless"
)

// The condition tells how much of the code was run, where nothing is known to be lost
// and somebody knows.
func TestTheConditionTellsBranches(t *testing.T) {
	d := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "ks"}}}
	some := &proof.Coverage{Taken: 3, All: 9}
	for want, r := range map[string]proof.Report{
		"customresourcedefinitions/ks: 7 objects came back as they were, and took 3 of 9 branches of the functions that they ran": {Verdict: proof.Lossless, Tried: 7, Coverage: some},
		"customresourcedefinitions/ks: 7 objects came back as they were":                                                          {Verdict: proof.Lossless, Tried: 7},
		"customresourcedefinitions/ks: v1:v2: the time is up, and took 3 of 9 branches of the functions that they ran":            {Verdict: proof.Unknown, Why: "v1:v2: the time is up", Coverage: some},
		"customresourcedefinitions/ks: it is not there":                                                                           {Verdict: proof.Unknown, Why: "it is not there"},
	} {
		c := lossless.ConditionOf([]*unstructured.Unstructured{d}, func(*unstructured.Unstructured) module.Proved { return lossless.Outcome(r) }, 1)
		if c.Message != want {
			t.Errorf("%q, want %q", c.Message, want)
		}
	}
}

// The first loss is told with its reason, and the others by name: once, with what failures
// say, however long that is.
func TestLossesInWords(t *testing.T) {
	loss := func(problem proof.Problem, field, had, got, message string) proof.Loss {
		return proof.Loss{Pair: proof.Pair{From: "v1", To: "v2"}, Problem: problem, Field: field, Had: had, Got: got, Message: message, Example: "an example"}
	}
	long := strings.Repeat("x", 101)
	const begin, end = " of spec.a, v1 to v2 and back", "; for example\nan example"
	for want, losses := range map[string][]proof.Loss{
		"Lost" + begin + " (1 becomes nothing)":    {loss(proof.Lost, "spec.a", "1", "", "")},
		"Lost" + begin + " (nothing becomes 2)":    {loss(proof.Lost, "spec.a", "", "2", "")},
		"Lost" + begin + " (why)":                  {loss(proof.Lost, "spec.a", "1", "2", "why")},
		"ConversionFails" + begin + " (no number)": {loss(proof.Fails, "spec.a", "", "", "no number")},
		"NotDeterministic" + begin:                 {loss(proof.Unstable, "spec.a", "1", "2", "")},
		"NotDeterministic" + begin + "; also spec.b, spec.c, spec.d (no number), spec.a (" + long[:100] + ")": {
			loss(proof.Unstable, "spec.a", "", "", ""), loss(proof.Lost, "spec.a", "", "", ""), loss(proof.Lost, "spec.b", "", "", ""), loss(proof.Lost, "spec.b", "", "", ""),
			loss(proof.Refused, "spec.c", "", "", "told nowhere"), loss(proof.Fails, "spec.d", "", "", "no number"), loss(proof.Fails, "spec.a", "", "", long),
		},
	} {
		if got := lossless.Told(proof.Report{Losses: losses}); got != want+end {
			t.Errorf("got  %s\nwant %s", got, want+end)
		}
	}
}
