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

	// duration is nil for watches, open for everything else.
	duration prometheus.Observer
	open     prometheus.Gauge
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
	if key.verb == "watch" {
		h.open = m.longRunning.WithLabelValues(append(labels[:1:1], labels[2:]...)...)
	} else {
		h.duration = m.durations.WithLabelValues(labels...)
	}
	m.handles[key] = h
	return h
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

// Done counts a request that was answered with an HTTP status after d. How
// long a watch lasted is up to the client and measured nowhere.
func (h *RequestHandle) Done(code int, d time.Duration) {
	h.counter(code).Inc()
	if h.duration != nil {
		h.duration.Observe(d.Seconds())
	}
}

// WatchStarted counts a watch that was opened.
func (h *RequestHandle) WatchStarted() {
	if h.open != nil {
		h.open.Inc()
	}
}

// WatchDone counts the end of a watch that was opened, and its status.
func (h *RequestHandle) WatchDone(code int) {
	if h.open != nil {
		h.open.Dec()
	}
	h.counter(code).Inc()
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
