package extend_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/wasmgate/wasmgate/crd/builtin/builtintest"
	"github.com/wasmgate/wasmgate/crd/crdtest"
)

func TestStatusOfPolicies(t *testing.T) {
	d := builtintest.Definitions(t)["validatingadmissionpolicy"]
	const spec = `"spec":{"matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]},"validations":[{"expression":"true"}]}`
	state := func(spec, more string) *unstructured.Unstructured {
		return crdtest.Shaped(t, d, `{"metadata":{"name":"p","resourceVersion":"7","uid":"u","generation":3`+more+`}`+spec+`}`)
	}
	old := state(","+spec, "")
	for status, want := range map[string]string{
		`{"observedGeneration":3,"typeChecking":{"expressionWarnings":[{"fieldRef":"spec.validations[0].expression","warning":"w"}]}}`: "",
		`{"typeChecking":{"expressionWarnings":[{}]}}`:                                                                          "[status.typeChecking.expressionWarnings[0].warning: Required value, status.typeChecking.expressionWarnings[0].fieldRef: Required value]",
		`{"typeChecking":{"expressionWarnings":[{"fieldRef":"a[","warning":"w"}]}}`:                                             `status.typeChecking.expressionWarnings[0].fieldRef: Invalid value: "a[": invalid JSONPath: unterminated array`,
		`{"conditions":[{"type":"a b","status":"True","reason":"R","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}`: `status.conditions[0].type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
	} {
		next := state(`,"spec":{},"status":`+status, `,"labels":{"not":"this"}`)
		err := rest.BeforeUpdate(crdtest.Registry(d, d.Versions[0].Subresources["status"].Update), crdtest.WriteContext(d), next, old)
		if got := crdtest.Message(err); got != want {
			t.Errorf("%s: got %s", status, got)
		}
		if next.GetLabels() != nil || next.GetGeneration() != 3 || !reflect.DeepEqual(next.Object["spec"], old.Object["spec"]) {
			t.Errorf("%s: a status changed %v", status, next.Object)
		}
	}
}

func TestRowsOfPolicies(t *testing.T) {
	for _, c := range []struct {
		kind, spec string
		want       []any
	}{
		{"validatingadmissionpolicy", `{"validations":[{},{}]}`, []any{"a", int64(2), "<unset>"}},
		{"mutatingadmissionpolicy", `{"mutations":[{}],"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}}`, []any{"a", int64(1), "v1/ConfigMap"}},
		{"validatingadmissionpolicybinding", `{"policyName":"p"}`, []any{"a", "p", "<unset>"}},
		{"mutatingadmissionpolicybinding", `{"policyName":"p","paramRef":{"name":"n"}}`, []any{"a", "p", "*/n"}},
		{"mutatingadmissionpolicybinding", `{"policyName":"p","paramRef":{"name":"n","namespace":"x"}}`, []any{"a", "p", "x/n"}},
		{"validatingadmissionpolicybinding", `{"policyName":"p","paramRef":{"selector":{"matchLabels":{"a":"b"}}}}`,
			[]any{"a", "p", "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}"}},
	} {
		d := builtintest.Definitions(t)[c.kind]
		obj := crdtest.Shaped(t, d, `{"metadata":{"name":"a"},"spec":`+c.spec+`}`)
		got, err := d.Versions[0].Table.ConvertToTable(t.Context(), obj, nil)
		if err != nil || len(got.Rows) != 1 || !reflect.DeepEqual(got.Rows[0].Cells[:3], c.want) || got.Rows[0].Cells[3] != "<unknown>" {
			t.Errorf("%s %s: %v, %v", c.kind, c.spec, got, err)
		}
	}
}
