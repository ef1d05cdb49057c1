package metrics

import (
	"strings"
	"testing"
)

func TestDecisionsOfAdmissionAreCounted(t *testing.T) {
	m := New()
	m.WebhookCall(Webhook{Name: "a", Operation: "CREATE", Code: 200, Seconds: 0.02})
	m.WebhookCall(Webhook{Name: "a", Operation: "CREATE", Mutating: true, Code: 601, Rejected: true, Error: "no_error"})
	m.WebhookCall(Webhook{Name: "b", Operation: "DELETE", Error: "calling_webhook_error"})
	m.PolicyCheck(false, "p", "x", "invalid_error", "deny", 0.5)
	m.PolicyCheck(true, "q", "y", "no_error", "allow", 0.0005)
	text, err := m.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`apiserver_admission_webhook_admission_duration_seconds_bucket{name="a",operation="CREATE",rejected="false",type="validating",le="0.025"} 1`,
		`apiserver_admission_webhook_admission_duration_seconds_bucket{name="a",operation="CREATE",rejected="false",type="validating",le="0.005"} 0`,
		`apiserver_admission_webhook_request_total{code="200",name="a",operation="CREATE",rejected="false",type="validating"} 1`,
		`apiserver_admission_webhook_request_total{code="600",name="a",operation="CREATE",rejected="true",type="admit"} 1`,
		`apiserver_admission_webhook_rejection_count{error_type="no_error",name="a",operation="CREATE",rejection_code="600",type="admit"} 1`,
		`apiserver_admission_webhook_fail_open_count{name="b",type="validating"} 1`,
		`apiserver_validating_admission_policy_check_total{enforcement_action="deny",error_type="invalid_error",policy="p",policy_binding="x"} 1`,
		`apiserver_mutating_admission_policy_check_duration_seconds_bucket{enforcement_action="allow",error_type="no_error",policy="q",policy_binding="y",le="0.001"} 1`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if strings.Count(string(text), "webhook_rejection_count{") != 1 || strings.Count(string(text), "fail_open_count{") != 1 {
		t.Error("what is well, or ignored, is counted as a rejection, or the reverse")
	}
}
