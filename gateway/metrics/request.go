package metrics

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// component is the label that tells kube-apiserver's own requests from those
// of an aggregated server.
const component = "apiserver"

// maxHandles bounds the label sets, whatever is asked for. Beyond it requests
// are counted under a resource named "other".
const maxHandles = 20000

type requestKey struct {
	verb, group, version, resource, subresource, scope string
	dryRun                                             bool
}

// RequestHandle counts requests of one kind: the same verb, resource and
// scope.
type RequestHandle struct {
	m   *Metrics
	key requestKey

	// duration and own are nil for watches, open for everything else; sizes for what
	// does not read, bodies for what sends none.
	duration, own, sizes, bodies prometheus.Observer
	lists                        prometheus.Observer // of watches alone
	open                         prometheus.Gauge
	// codes are the counters of common statuses, by slot, made on first use;
	// a status that never occurs stays out of the output.
	codes [slots]atomic.Pointer[prometheus.Counter]
}

// verbs maps API verbs to the names that kube-apiserver's metrics use.
var verbs = map[string]string{
	"get": "GET", "list": "LIST", "watch": "WATCH", "create": "POST", "update": "PUT",
	"patch": "PATCH", "apply": "APPLY", "delete": "DELETE", "deletecollection": "DELETE",
	"head": "HEAD", "post": "POST", "put": "PUT", "other": "other",
}

// Request returns the handle for one kind of request; asking again is cheap
// and gives the same one. verb is an API verb or a lower-case HTTP method,
// scope is "cluster", "namespace" or "resource" (one object), or empty for
// paths that are no resource. The strings may live in memory that is reused.
func (m *Metrics) Request(verb, group, version, resource, subresource, scope string) *RequestHandle {
	return m.handle(requestKey{verb: verb, group: group, version: version, resource: resource, subresource: subresource, scope: scope})
}

// DryRun returns the handle for the same kind of request as a dry run.
func (h *RequestHandle) DryRun() *RequestHandle {
	key := h.key
	key.dryRun = true
	return h.m.handle(key)
}

func (m *Metrics) handle(key requestKey) *RequestHandle {
	m.mu.RLock()
	h := m.handles[key]
	m.mu.RUnlock()
	if h != nil {
		return h
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := verbs[key.verb]; !known {
		key.verb = "other" // an invented method
	}
	if len(m.handles) >= maxHandles {
		key = requestKey{verb: key.verb, resource: "other"}
	}
	if h := m.handles[key]; h != nil {
		return h
	}
	key = key.clone()
	h = &RequestHandle{m: m, key: key}
	labels := h.labels()
	if kind := append(labels[:1:1], labels[2:]...); key.verb == "watch" {
		h.open = m.longRunning.WithLabelValues(kind...)
		h.lists = m.watchLists.WithLabelValues(key.group, key.version, key.resource, key.scope)
	} else {
		h.duration, h.own = m.durations.WithLabelValues(labels...), m.ownDurations.WithLabelValues(kind...)
		h.measureBytes(kind)
	}
	m.handles[key] = h
	return h
}

// measureBytes has the replies to what reads measured, and the bodies of what sends any.
func (h *RequestHandle) measureBytes(labels []string) {
	switch h.key.verb {
	case "get", "list":
		h.sizes = h.m.responseSizes.WithLabelValues(labels...)
	case "create", "update", "patch", "apply", "delete", "deletecollection":
		if h.key.resource != "" {
			h.bodies = h.m.bodySizes.WithLabelValues(h.key.group, h.key.resource, h.key.verb)
		}
	}
}

func (k requestKey) clone() requestKey {
	for _, s := range []*string{&k.verb, &k.group, &k.version, &k.resource, &k.subresource, &k.scope} {
		*s = strings.Clone(*s)
	}
	return k
}

func (h *RequestHandle) labels() []string {
	k := h.key
	dryRun := ""
	if k.dryRun {
		dryRun = "All"
	}
	return []string{verbs[k.verb], dryRun, k.group, k.version, k.resource, k.subresource, k.scope, component}
}

// Outcome is what became of a request.
type Outcome struct {
	// Code is the HTTP status.
	Code int
	// Took is the time from its head to the end of its reply, and Outside the part in
	// which it waited for a seat or for webhooks.
	Took, Outside time.Duration
	// Received and Sent are the bytes of its body and of the reply's; -1 where that is not known.
	Received, Sent int
	// Terminated: it was broken off, as its time was over or there was no room for it.
	Terminated bool
}

// Done counts a request that was answered. How long a watch lasted is up to the client
// and measured nowhere.
func (h *RequestHandle) Done(o Outcome) {
	h.counter(o.Code).Inc()
	if h.duration == nil {
		return
	}
	h.duration.Observe(o.Took.Seconds())
	if !h.key.dryRun {
		h.own.Observe(max(0, o.Took-o.Outside).Seconds())
	}
	if h.sizes != nil && o.Sent >= 0 {
		h.sizes.Observe(float64(o.Sent))
	}
	if h.bodies != nil && o.Received > 0 {
		h.bodies.Observe(float64(o.Received))
	}
	h.broken(o)
}

// WatchStarted counts a watch that was opened.
func (h *RequestHandle) WatchStarted() {
	if h.open != nil {
		h.open.Inc()
	}
}

// WatchListed is told how long a watch took to send what there was.
func (h *RequestHandle) WatchListed(took time.Duration) {
	if h.lists != nil {
		h.lists.Observe(took.Seconds())
	}
}

// WatchDone counts the end of a watch that was opened, and what became of it.
func (h *RequestHandle) WatchDone(o Outcome) {
	if h.open != nil {
		h.open.Dec()
	}
	h.counter(o.Code).Inc()
	h.broken(o)
}

// broken counts what was broken off.
func (h *RequestHandle) broken(o Outcome) {
	if o.Terminated {
		labels := h.labels()
		h.m.terminations.WithLabelValues(append(append(labels[:1:1], labels[2:]...), strconv.Itoa(o.Code))...).Inc()
	}
}

func (h *RequestHandle) counter(code int) prometheus.Counter {
	s := slot(code)
	if s < 0 {
		return h.slow(code)
	}
	if c := h.codes[s].Load(); c != nil {
		return *c
	}
	c := h.slow(code)
	h.codes[s].Store(&c)
	return c
}

func (h *RequestHandle) slow(code int) prometheus.Counter {
	return h.m.requests.WithLabelValues(append(h.labels(), strconv.Itoa(code))...)
}

// slots is the number of statuses that slot knows.
const slots = 10

// slot numbers the statuses that make up nearly all replies.
func slot(code int) int {
	switch code {
	case 200:
		return 0
	case 201:
		return 1
	case 400:
		return 2
	case 401:
		return 3
	case 403:
		return 4
	case 404:
		return 5
	case 409:
		return 6
	case 410:
		return 7
	case 422:
		return 8
	case 500:
		return 9
	}
	return -1
}

// sliBuckets are kube-apiserver's, too.
var sliBuckets = []float64{0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}

// newSizes makes what is measured of requests beside their time.
func newSizes(m *Metrics, labels []string) {
	m.ownDurations = m.histograms("apiserver_request_sli_duration_seconds",
		"Time from the arrival of a request to the end of its reply without that for webhooks and for a seat, watches left out.",
		sliBuckets, labels...)
	m.responseSizes = m.histograms("apiserver_response_sizes",
		"Bytes of the bodies of replies to what reads, watches left out.",
		prometheus.ExponentialBuckets(1000, 10, 7), labels...)
	m.bodySizes = m.histograms("apiserver_request_body_size_bytes",
		"Bytes of the bodies of requests.",
		prometheus.LinearBuckets(50000, 100000, 31), "group", "resource", "verb")
	m.terminations = m.counters("apiserver_request_terminations_total",
		"Requests that were broken off, as their time was over.", append(labels, "code")...)
}
