package lossless_test

import (
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
