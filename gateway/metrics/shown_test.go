package metrics

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// What the audit log keeps, and loses, is counted; a level that is none is not.
func TestAuditIsCounted(t *testing.T) {
	m := New()
	for _, level := range []string{"None", "Metadata", "Request", "RequestResponse", "RequestResponse", "Odd"} {
		m.AuditLevel(level)
	}
	m.AuditEvent()
	m.AuditRejected()
	m.AuditLeftOut()
	m.AuditErrors("webhook", 3)
	out := render(t, m)
	wantLines(t, out, `apiserver_audit_level_total{level="None"} 1`, `apiserver_audit_level_total{level="Metadata"} 1`, `apiserver_audit_level_total{level="Request"} 1`, `apiserver_audit_level_total{level="RequestResponse"} 2`,
		"apiserver_audit_event_total 1", "apiserver_audit_requests_rejected_total 1", "wasmgate_audit_left_out_total 1", `apiserver_audit_error_total{plugin="webhook"} 3`, `apiserver_audit_error_total{plugin="log"} 0`)
	if strings.Contains(out, "Odd") {
		t.Error("what is no level is counted")
	}
}

// A folder that came into force is told by what it says; one that could not is counted
// and leaves that as it was. What was in force before is told no more.
func TestGuardsAreShown(t *testing.T) {
	m := New()
	id := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte("one")))
	const begin = "apiserver_manifest_admission_config_controller_"
	info := func(hash string) string {
		return fmt.Sprintf("%slast_config_info{apiserver_id_hash=%q,hash=%q,plugin=\"P\"} 1", begin, id, hash)
	}
	count := func(status string, n int) string {
		return fmt.Sprintf("%sautomatic_reloads_total{apiserver_id_hash=%q,plugin=\"P\",status=%q} %d", begin, id, status, n)
	}
	m.Guards.InForce("P", "one", "a", true)
	m.Guards.InForce("P", "one", "b", true)
	m.Guards.InForce("P", "one", "c", false)
	m.Guards.Drift("P", 2)
	out := render(t, m)
	wantLines(t, out, info("b"), count("success", 2), count("failure", 1), `wasmgate_guards_drift{plugin="P"} 2`)
	if strings.Contains(out, `hash="a"`) || strings.Contains(out, `hash="c"`) || strings.Count(out, begin+"automatic_reload_last_timestamp_seconds{") != 2 {
		t.Error(out)
	}
}

// What tells of all instances is one.
func TestInstancesAreShownOnce(t *testing.T) {
	m := New()
	all := func() []Instances {
		return []Instances{{Module: "m", Idle: 1, InUse: 2, Max: 4, IdleBytes: 5, GivenBack: 6, HeldBack: 7}}
	}
	if err := m.PluginInstances(all); err != nil {
		t.Fatal(err)
	}
	wantLines(t, render(t, m), `wasmgate_plugin_instances{module="m",state="idle"} 1`, `wasmgate_plugin_instances{module="m",state="in_use"} 2`, `wasmgate_plugin_instances_max{module="m"} 4`,
		`wasmgate_plugin_idle_memory_bytes{module="m"} 5`, `wasmgate_plugin_given_back_total{module="m"} 6`, `wasmgate_plugin_held_back_total{module="m"} 7`)
	if err := m.PluginInstances(all); err == nil || !strings.HasPrefix(err.Error(), "metrics of instances: ") {
		t.Error(err)
	}
}

// Modules that are served as webhooks are counted by their names, until nothing is served
// under them.
func TestWebhooksAreCounted(t *testing.T) {
	m := New()
	w, err := NewWebhooks(m, func() float64 { return 7 })
	if err != nil {
		t.Fatal(err)
	}
	w.Request("convert", "one", 200, 0.1)
	w.Request("convert", "two", 500, 0.1)
	for _, err := range []error{nil, errors.New("no")} {
		w.Bundle("definitions", err)
		w.Reload(err)
	}
	w.Forget("two")
	out := render(t, m)
	wantLines(t, out, `wasmgate_webhook_requests_total{code="200",hook="convert",name="one"} 1`, `wasmgate_webhook_request_seconds_count{hook="convert",name="one"} 1`,
		`wasmgate_webhook_bundles_total{resource="definitions",result="error"} 1`, `wasmgate_webhook_bundles_total{resource="definitions",result="success"} 1`,
		`wasmgate_webhook_reloads_total{result="error"} 1`, `wasmgate_webhook_reloads_total{result="success"} 1`, "wasmgate_webhook_certificate_expiration_seconds 7")
	if strings.Contains(out, `name="two"`) {
		t.Error("what is forgotten is shown")
	}
}
