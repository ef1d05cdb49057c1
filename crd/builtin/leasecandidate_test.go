package builtin

import (
	"strings"
	"testing"

	"github.com/wasmgate/wasmgate/crd"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

// What is wrong with a candidate is said in kube-apiserver's words.
func TestLeaseCandidatesAreServedWhenChosen_VER02(t *testing.T) {
	find := func(c Choice) *crd.Definition {
		all, err := All(Options{Choice: c})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if d.Kind == "LeaseCandidate" {
				return d
			}
		}
		return nil
	}
	if find(nil) != nil {
		t.Error("a beta version is served by default")
	}
	d := find(Choice{"coordination.k8s.io/v1beta1": true})
	if d == nil {
		t.Fatal("the kind is not served")
	}
	for spec, want := range map[string]string{
		`{"leaseName":"l","binaryVersion":"1.2.3","emulationVersion":"1.2.0","strategy":"OldestEmulationVersion"}`:  "",
		`{"leaseName":"l","binaryVersion":"1.2.3","strategy":"a.b/c"}`:                                              "",
		`{"binaryVersion":"1.2.3","strategy":"a.b/c"}`:                                                              "spec.leaseName: Required value",
		`{"leaseName":"l","binaryVersion":"v1","strategy":"a.b/c"}`:                                                 `spec.binaryVersion: Invalid value: "v1": must be a valid semantic version`,
		`{"leaseName":"l","binaryVersion":"1.2.3","strategy":"OldestEmulationVersion"}`:                             "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
		`{"leaseName":"l","binaryVersion":"1.2.3","emulationVersion":"1.10.0","strategy":"OldestEmulationVersion"}`: "spec.binaryVersion: Invalid value: \"1.2.3\": must be greater than or equal to `emulationVersion`",
		`{"leaseName":"l","binaryVersion":"1.2.3","strategy":"Newest"}`:                                             `spec.strategy.strategy: Unsupported value: "Newest": supported values: "OldestEmulationVersion"`,
	} {
		err := crdtest.Creation(t, d, `{"metadata":{"name":"a"},"spec":`+spec+`}`)
		if got := crdtest.Message(err); want == "" && err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	const was, now = `{"leaseName":"l","binaryVersion":"1.2.3","strategy":"a.b/c"}`, `{"leaseName":"m","binaryVersion":"1.2.3","strategy":"a.b/c"}`
	err := crdtest.Change(t, d, "", `{"metadata":{"name":"a"},"spec":`+was+`}`, `{"metadata":{"name":"a"},"spec":`+now+`}`)
	if got := crdtest.Message(err); !strings.HasSuffix(got, `spec.leaseName: Invalid value: "m": field is immutable`) {
		t.Error(got)
	}
}
