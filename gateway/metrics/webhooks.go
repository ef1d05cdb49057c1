package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// Webhooks are metrics of modules that are served as webhooks.
type Webhooks struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	bundles  *prometheus.CounterVec
	reloads  *prometheus.CounterVec
}

// NewWebhooks adds them to m, with the end of a certificate, in seconds since 1970. It is
// called once.
func NewWebhooks(m *Metrics, certificateEnds func() float64) (*Webhooks, error) {
	w := &Webhooks{
		requests: m.counters("wasmgate_webhook_requests_total", "Requests of an API server answered, by hook, the name of the module or rules, and HTTP status.", "hook", "name", "code"),
		seconds:  m.histograms("wasmgate_webhook_request_seconds", "Time from the head of such a request to its reply.", pluginBuckets, "hook", "name"),
		bundles:  m.counters("wasmgate_webhook_bundles_total", "Bundles of certificates that were written into an object, or could not be, by resource.", "resource", "result"),
		reloads:  m.counters("wasmgate_webhook_reloads_total", "Changes of files that came into force, or could not.", "result"),
	}
	return w, m.GaugeFunc("wasmgate_webhook_certificate_expiration_seconds", "When the serving certificate ends, in seconds since 1970.", certificateEnds)
}

// Request counts a request. name is empty for one that nothing is served under.
func (w *Webhooks) Request(hook, name string, code int, seconds float64) {
	w.requests.WithLabelValues(hook, name, strconv.Itoa(code)).Inc()
	w.seconds.WithLabelValues(hook, name).Observe(seconds)
}

// Bundle counts a bundle that was to be written.
func (w *Webhooks) Bundle(resource string, err error) {
	w.bundles.WithLabelValues(resource, result(err)).Inc()
}

// Reload counts a change of files.
func (w *Webhooks) Reload(err error) { w.reloads.WithLabelValues(result(err)).Inc() }

// Forget drops the metrics of a name that nothing is served under any more.
func (w *Webhooks) Forget(name string) {
	labels := prometheus.Labels{"name": name}
	w.requests.DeletePartialMatch(labels)
	w.seconds.DeletePartialMatch(labels)
}

// ConversionWebhooks are about webhooks that convert, by kube-apiserver's names.
type ConversionWebhooks struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newConversionWebhooks(m *Metrics) *ConversionWebhooks {
	labels := []string{"result", "failure_type"}
	return &ConversionWebhooks{
		requests: m.counters("apiserver_conversion_webhook_request_total", "Calls of webhooks that convert, by what became of them.", labels...),
		seconds: m.histograms("apiserver_conversion_webhook_duration_seconds", "Time of calls of webhooks that convert.",
			[]float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60}, labels...),
	}
}

// Called counts a call of a webhook that converts: it went well, or failed, or
// answered what is no conversion.
func (c *ConversionWebhooks) Called(failed, answered bool, seconds float64) {
	result, failure := "success", ""
	switch {
	case failed && answered:
		result, failure = "failure", "conversion_webhook_malformed_response_failure"
	case failed:
		result, failure = "failure", "conversion_webhook_call_failure"
	}
	c.requests.WithLabelValues(result, failure).Inc()
	c.seconds.WithLabelValues(result, failure).Observe(seconds)
}

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "success"
}
