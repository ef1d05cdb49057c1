package admitting

import (
	"strings"
	"testing"
)

func TestDecisionsAreCountedAndThoseOfModulesLogged(t *testing.T) {
	w := newWorld(t)
	w.configure("validating", "v", "", "v1", "configmaps", "")
	w.configure("validating", "ignored", "", "v1", "configmaps", `"failurePolicy":"Ignore","objectSelector":{"matchLabels":{"ask":"both"}},`)
	w.configure("mutating", "m", "", "v1", "secrets", "")
	w.policy("validating", "p", "", "configmaps", `"failurePolicy":"Ignore","validations":[{"expression":"!has(object.data) || object.data.a == 'b'"}]`)
	w.bind("validating", "b", "p", `,"validationActions":["Deny"]`)
	w.policy("mutating", "q", "", "secrets", `"reinvocationPolicy":"Never","mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}]`)
	w.bind("mutating", "c", "q", "")
	w.answer = func(module string, _ map[string]any) string {
		return map[string]string{"v": `"allowed":true`, "m": `"allowed":false,"status":{"code":418,"message":"tea"}`}[module]
	}
	w.refuses(`{"metadata":{"name":"one","labels":{"ask":"both"}}}`, "")
	w.refuses(`{"metadata":{"name":"two"},"data":{"a":"c"}}`, `configmaps "two" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: !has(object.data) || object.data.a == 'b'`)
	w.refuses(`{"metadata":{"name":"three"},"data":{"c":"d"}}`, "")
	if _, err := w.try("", "secrets", "", `{"metadata":{"name":"one"}}`, alice); err == nil {
		t.Error("not refused")
	}
	text, err := w.counted.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`apiserver_admission_webhook_request_total{code="200",name="v.example.com",operation="CREATE",rejected="false",type="validating"} 2`,
		`apiserver_admission_webhook_request_total{code="0",name="ignored.example.com",operation="CREATE",rejected="false",type="validating"} 1`,
		`apiserver_admission_webhook_fail_open_count{name="ignored.example.com",type="validating"} 1`,
		`apiserver_admission_webhook_rejection_count{error_type="no_error",name="m.example.com",operation="CREATE",rejection_code="418",type="admit"} 1`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="deny",error_type="invalid_error",policy="p",policy_binding="b"} 1`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="allow",error_type="invalid_error",policy="p",policy_binding="b"} 1`,
		`apiserver_mutating_admission_policy_check_total{enforcement_action="allow",error_type="no_error",policy="q",policy_binding="c"} 1`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	for _, want := range []string{
		`"level":"debug"`, `"module":"v","webhook":"v.example.com","operation":"CREATE","resource":"configmaps","namespace":"default","name":"one","allowed":true`,
		`{"level":"info","component":"admission","module":"m","webhook":"m.example.com","operation":"CREATE","resource":"secrets","namespace":"default","name":"one"`,
		`"reason":"admission webhook \"m.example.com\" denied the request: tea"`,
	} {
		if !strings.Contains(w.log.String(), want) {
			t.Errorf("no %s in %s", want, w.log.String())
		}
	}
}
