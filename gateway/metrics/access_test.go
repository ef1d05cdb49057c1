package metrics

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/version"
)

// Who asks is counted by names that many share, and for how long certificates are valid.
func TestAccessIsCounted(t *testing.T) {
	m := New()
	for _, user := range []string{"admin", "ann@example.com", "system:serviceaccount:kube-system:default", "system:serviceaccount:team:robot", "bob"} {
		m.Access.Authenticated(AuthenticationSuccess, user, 0.0005)
	}
	m.Access.Authenticated(AuthenticationError, "mallory", 0.5)
	m.Access.Authenticated(AuthenticationFailure, "", 0.0005)
	m.Access.Authorized(Allowed, 0.003)
	m.Access.Authorized(NoOpinion, 0.003)
	m.Access.Authorized(NoOpinion, 0.003)
	m.Access.Authorized(DecisionError, 0.003)
	m.Access.CertificateShown(-5)
	m.Access.CertificateShown(3000)
	out := render(t, m)
	wantLines(t, out,
		`authenticated_user_requests{username="admin"} 1`, `authenticated_user_requests{username="email_id"} 1`, `authenticated_user_requests{username="other"} 2`,
		`authenticated_user_requests{username="system:serviceaccount:kube-system:default"} 1`,
		`authentication_attempts{result="success"} 5`, `authentication_attempts{result="error"} 1`, `authentication_attempts{result="failure"} 1`,
		`authentication_duration_seconds_bucket{result="success",le="0.001"} 5`, `authentication_duration_seconds_bucket{result="error",le="0.256"} 0`, `authentication_duration_seconds_bucket{result="error",le="0.512"} 1`,
		`authorization_attempts_total{result="allowed"} 1`, `authorization_attempts_total{result="no-opinion"} 2`, `authorization_attempts_total{result="error"} 1`,
		`authorization_duration_seconds_bucket{result="no-opinion",le="0.004"} 2`,
		`apiserver_client_certificate_expiration_seconds_bucket{le="0"} 1`, `apiserver_client_certificate_expiration_seconds_bucket{le="1800"} 1`, `apiserver_client_certificate_expiration_seconds_bucket{le="3600"} 2`,
	)
	if strings.Contains(out, "mallory") || strings.Contains(out, "robot") {
		t.Error("names of people are labels")
	}
}

// What others took is not a request's own time, and only replies to what reads have sizes.
func TestRequestsAreMeasured(t *testing.T) {
	m := New()
	m.Request("create", "", "v1", "configmaps", "", "resource").Done(Outcome{Code: 201, Took: 3 * time.Second, Outside: 2900 * time.Millisecond, Received: 60_000, Sent: 60_000})
	m.Request("delete", "", "v1", "configmaps", "", "resource").Done(Outcome{Code: 200})
	m.Request("list", "", "v1", "configmaps", "", "namespace").Done(Outcome{Code: 504, Sent: 2000, Terminated: true})
	watch := m.Request("watch", "", "v1", "configmaps", "", "cluster")
	watch.WatchStarted()
	watch.WatchDone(Outcome{Code: 429, Terminated: true})
	m.Request("post", "", "", "", "", "").Done(Outcome{Code: 201, Received: 5})
	const own, made = "apiserver_request_sli_duration_seconds_bucket{", `component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"`
	const listed = `component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"`
	out := render(t, m)
	wantLines(t, out,
		own+made+`,le="0.05"} 0`, own+made+`,le="0.2"} 1`,
		`apiserver_response_sizes_bucket{`+listed+`,le="1000"} 0`, `apiserver_response_sizes_bucket{`+listed+`,le="10000"} 1`, `apiserver_response_sizes_sum{`+listed+`} 2000`,
		`apiserver_request_body_size_bytes_bucket{group="",resource="configmaps",verb="create",le="50000"} 0`, `apiserver_request_body_size_bytes_bucket{group="",resource="configmaps",verb="create",le="150000"} 1`,
		`apiserver_request_terminations_total{code="504",`+listed+`} 1`,
		`apiserver_request_terminations_total{code="429",component="apiserver",group="",resource="configmaps",scope="cluster",subresource="",verb="WATCH",version="v1"} 1`,
	)
	if strings.Contains(out, "apiserver_response_sizes_bucket{"+made) || strings.Contains(out, `apiserver_request_body_size_bytes_count{group="",resource="configmaps",verb="delete"} 1`) || strings.Contains(out, `resource="",verb="post"`) {
		t.Error("what has no body is measured")
	}
}

// Admission is timed by plugin and by phase.
func TestAdmissionIsTimed(t *testing.T) {
	m := New()
	m.AdmissionTimes.Took("One", true, "CREATE", false, 0.01)
	m.AdmissionTimes.Took("One", true, "CREATE", false, 0.2)
	m.AdmissionTimes.Took("Two", false, "DELETE", true, 3)
	m.AdmissionTimes.Took("", false, "DELETE", true, 3)
	const plugin, phase = "apiserver_admission_controller_admission_duration_seconds_", "apiserver_admission_step_admission_duration_seconds_"
	out := render(t, m)
	wantLines(t, out,
		plugin+`bucket{name="One",operation="CREATE",rejected="false",type="admit",le="0.025"} 1`, plugin+`count{name="One",operation="CREATE",rejected="false",type="admit"} 2`,
		plugin+`count{name="Two",operation="DELETE",rejected="true",type="validate"} 1`, phase+`count{operation="DELETE",rejected="true",type="validate"} 1`)
	if strings.Count(out, phase+"count{") != 1 || strings.Count(out, plugin+"count{") != 2 {
		t.Error("plugins and phases are mixed up")
	}
}

// What is running, what the store holds, and what others do is told.
func TestTheRestIsShown(t *testing.T) {
	m := New()
	ShowBuild(m, version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.3+wasmgate", GitTreeState: "clean", EmulationMajor: "1", EmulationMinor: "35", MinCompatibilityMajor: "1", MinCompatibilityMinor: "34"})
	m.ConversionWebhooks.Called(false, false, 0.001)
	m.ConversionWebhooks.Called(true, false, 0.001)
	m.ConversionWebhooks.Called(true, true, 0.001)
	m.Request("watch", "", "v1", "pods", "", "cluster").WatchListed(300 * time.Millisecond)
	m.Etcd("get", "", "pods").Observe(0.001)
	size, fails := int64(7), error(nil)
	if err := ShowStorageSize(m, func() (int64, error) { return size, fails }); err != nil {
		t.Fatal(err)
	}
	if err := m.StoredObjects(func() []Objects { return []Objects{{Group: "g", Resource: "r", Stored: 1, Bytes: 2, Events: 3}} }); err != nil {
		t.Fatal(err)
	}
	wantLines(t, render(t, m),
		`kubernetes_build_info{build_date="",compiler="",git_commit="",git_tree_state="clean",git_version="v1.36.3+wasmgate",go_version="",major="1",minor="36",platform=""} 1`,
		`version_info{binary="1.36.3",component="kube",emulation="1.35",min_compat="1.34"} 1`,
		`apiserver_conversion_webhook_request_total{failure_type="",result="success"} 1`,
		`apiserver_conversion_webhook_request_total{failure_type="conversion_webhook_call_failure",result="failure"} 1`,
		`apiserver_conversion_webhook_duration_seconds_count{failure_type="conversion_webhook_malformed_response_failure",result="failure"} 1`,
		`apiserver_watch_list_duration_seconds_bucket{group="",resource="pods",scope="cluster",version="v1",le="0.4"} 1`,
		`etcd_requests_total{group="",operation="get",resource="pods"} 1`,
		`apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 7`,
		`apiserver_resource_size_estimate_bytes{group="g",resource="r"} 2`, `apiserver_storage_events_received_total{group="g",resource="r"} 3`)
	if fails = errors.New("no"); strings.Contains(render(t, m), "apiserver_storage_size_bytes{") {
		t.Error("a size is shown that nobody knows")
	}
	if err := ShowStorageSize(m, nil); err == nil || !strings.HasPrefix(err.Error(), "metrics of the store: ") {
		t.Error(err)
	}
}
