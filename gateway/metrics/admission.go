package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// admissionMetrics have kube-apiserver's names, labels and buckets.
type admissionMetrics struct {
	webhookTime                      *prometheus.HistogramVec
	webhookCalls, rejections, opened *prometheus.CounterVec
	// Of validating and of mutating policies.
	checks    [2]*prometheus.CounterVec
	checkTime [2]*prometheus.HistogramVec
}

func newAdmissionMetrics(m *Metrics) {
	a := &m.admission
	m.AdmissionTimes = newAdmissionTimes(m)
	labels := []string{"name", "type", "operation"}
	a.webhookTime = m.histograms("apiserver_admission_webhook_admission_duration_seconds",
		"Time of calls of webhooks, servers and modules.", []float64{0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25}, append(labels, "rejected")...)
	a.webhookCalls = m.counters("apiserver_admission_webhook_request_total",
		"Calls of webhooks, by HTTP status.", append(labels, "code", "rejected")...)
	a.rejections = m.counters("apiserver_admission_webhook_rejection_count",
		"Requests refused because of webhooks, by why.", append(labels, "error_type", "rejection_code")...)
	a.opened = m.counters("apiserver_admission_webhook_fail_open_count",
		"Calls of webhooks that failed and were ignored.", "name", "type")
	for i, kind := range []string{"validating", "mutating"} {
		labels := []string{"policy", "policy_binding", "error_type", "enforcement_action"}
		a.checks[i] = m.counters("apiserver_"+kind+"_admission_policy_check_total",
			"Decisions of "+kind+" policies, by what became of them.", labels...)
		a.checkTime[i] = m.histograms("apiserver_"+kind+"_admission_policy_check_duration_seconds",
			"Time of decisions of "+kind+" policies.", []float64{0.0000005, 0.001, 0.01, 0.1, 1.0}, labels...)
	}
}

// maxCode is the largest status that is told apart: webhooks may answer
// anything.
const maxCode = 600

// Webhook is one call of an admission webhook.
type Webhook struct {
	Name, Operation string
	Mutating        bool
	// Code is the HTTP status of the decision, 0 where there is none.
	Code int
	// Rejected tells that the request was refused, Error why in one word, ""
	// for a call that went well.
	Rejected bool
	Error    string
	Seconds  float64
}

// WebhookCall counts a call.
func (m *Metrics) WebhookCall(w Webhook) {
	kind := "validating"
	if w.Mutating {
		kind = "admit"
	}
	code, rejected := strconv.Itoa(min(w.Code, maxCode)), strconv.FormatBool(w.Rejected)
	m.admission.webhookTime.WithLabelValues(w.Name, kind, w.Operation, rejected).Observe(w.Seconds)
	m.admission.webhookCalls.WithLabelValues(w.Name, kind, w.Operation, code, rejected).Inc()
	switch {
	case w.Rejected:
		m.admission.rejections.WithLabelValues(w.Name, kind, w.Operation, w.Error, code).Inc()
	case w.Error != "":
		m.admission.opened.WithLabelValues(w.Name, kind).Inc()
	}
}

// PolicyCheck counts a decision of an admission policy: failure is what was
// wrong in one word, and action what was done.
func (m *Metrics) PolicyCheck(mutating bool, policy, binding, failure, action string, seconds float64) {
	i := 0
	if mutating {
		i = 1
	}
	m.admission.checks[i].WithLabelValues(policy, binding, failure, action).Inc()
	m.admission.checkTime[i].WithLabelValues(policy, binding, failure, action).Observe(seconds)
}

// AdmissionTimes are how long admission plugins take, by kube-apiserver's names.
type AdmissionTimes struct {
	plugins, phases *prometheus.HistogramVec
	timers          sync.Map // of timerKey
}

func newAdmissionTimes(m *Metrics) *AdmissionTimes {
	decided := []string{"operation", "rejected", "type"}
	buckets := []float64{0.005, 0.025, 0.1, 0.5, 1.0, 2.5}
	plugins := m.histograms("apiserver_admission_controller_admission_duration_seconds",
		"Time of admission plugins, by name.", buckets, append([]string{"name"}, decided...)...)
	phases := m.histograms("apiserver_admission_step_admission_duration_seconds",
		"Time of all admission plugins of a phase.", buckets, decided...)
	return &AdmissionTimes{plugins: plugins, phases: phases}
}

// timerKey is what one admission plugin did, or all of a phase, whose name is "".
type timerKey struct {
	name, operation    string
	mutating, rejected bool
}

// Took tells how long an admission plugin took, or, without a name, all of a phase.
// operation is kube-apiserver's word.
func (t *AdmissionTimes) Took(name string, mutating bool, operation string, rejected bool, seconds float64) {
	key := timerKey{name, operation, mutating, rejected}
	timer, ok := t.timers.Load(key)
	if !ok {
		kind := "validate"
		if mutating {
			kind = "admit"
		}
		labels := []string{operation, strconv.FormatBool(rejected), kind}
		made := t.phases.WithLabelValues
		if name != "" {
			made, labels = t.plugins.WithLabelValues, append([]string{name}, labels...)
		}
		timer, _ = t.timers.LoadOrStore(key, made(labels...))
	}
	timer.(prometheus.Observer).Observe(seconds)
}
