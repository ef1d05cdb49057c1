package policy

import (
	"maps"
	"strings"
	"testing"
)

// What policies annotate is told to who audits, and what bindings want audited.
func TestWhatPoliciesAnnotate(t *testing.T) {
	w := newWorld(t)
	r := w.request()
	r.Annotated = map[string]string{}
	err := w.validate(r, map[string]string{
		"p": `"validations":[{"expression":"true"},{"expression":"object.n == 2","message":"not two"}],"auditAnnotations":[{"key":"nothing","valueExpression":"null"},{"key":"blank","valueExpression":"'  '"},{"key":"long","valueExpression":"'` + strings.Repeat("x", 10_300) + `'"},{"key":"host","valueExpression":"' ' + object.host"},{"key":"none","valueExpression":"null"}]`,
	}, map[string]string{"b": `"policyName":"p","validationActions":["Audit","Warn"]`})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"p/host": "h", "p/long": strings.Repeat("x", maxAnnotation),
		"validation.policy.admission.k8s.io/validation_failure": `[{"message":"not two","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Audit","Warn"]}]`,
	}
	if !maps.Equal(r.Annotated, want) {
		t.Errorf("%q", r.Annotated)
	}
}
