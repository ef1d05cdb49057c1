package scale

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/wasmgate/wasmgate/crd"
)

// A Scale of what is no scale is an error that says where.
func TestScaleOfOddObjects_RES06(t *testing.T) {
	p := &crd.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: ".status.selector"}
	for body, want := range map[string]string{
		`"spec":{"replicas":"x"}`:                           ".spec.replicas accessor error",
		`"spec":{"replicas":1},"status":{"replicas":"x"}`:   ".status.replicas accessor error",
		`"spec":{"replicas":1},"status":{"selector":7}`:     ".status.selector accessor error",
		`"spec":{"replicas":-1}`:                            `the spec replicas field ".spec.replicas" cannot be negative`,
		`"spec":{}`:                                         `the spec replicas field ".spec.replicas" does not exist`,
		`"spec":{"replicas":0},"status":{}`:                 "",
		`"spec":{"replicas":2},"status":{"selector":"a=b"}`: "",
	} {
		out, err := Text(p, []byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"one"},`+body+`}`))
		switch {
		case want == "" && (err != nil || !strings.Contains(string(out), `"kind":"Scale"`)):
			t.Errorf("%s: got %s, %v", body, out, err)
		case want != "" && (!apierrors.IsInternalError(err) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %s, %v", body, out, err)
		}
	}
	// Of no replicas nothing is said, as Kubernetes' Go type is written.
	for replicas, want := range map[string]string{"0": `"spec":{},`, "1": `"spec":{"replicas":1},`} {
		if out, err := Text(p, []byte(`{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"one"},"spec":{"replicas":`+replicas+`}}`)); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s replicas: %s, %v", replicas, out, err)
		}
	}
	if _, err := Text(p, []byte("x")); !apierrors.IsInternalError(err) {
		t.Errorf("of no JSON: %v", err)
	}
}

// A Scale has a selector as text, in whatever form the object has it.
func TestSelectorsOfScales(t *testing.T) {
	p := &crd.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: ".spec.selector"}
	for selector, want := range map[string]string{
		`"a=b"`:                     `"selector":"a=b"`,
		`{"a":"b","c":"d"}`:         `"selector":"a=b,c=d"`,
		`{"matchLabels":{"a":"b"}}`: `"selector":"a=b"`,
		`{"matchExpressions":[{"key":"a","operator":"In","values":["b","c"]}]}`:  `"selector":"a in (b,c)"`,
		`{"matchExpressions":[{"key":"a","operator":"Nothing","values":["b"]}]}`: `"Nothing" is not a valid label selector operator`,
		`{"a":1}`: "accessor error",
	} {
		out, err := Text(p, []byte(`{"apiVersion":"v1","kind":"K","metadata":{"name":"one"},"spec":{"replicas":2,"selector":`+selector+`},"status":{"replicas":1}}`))
		got := string(out)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", selector, got, want)
		}
	}
}
