// Package accounting owns how requests are counted: which labels a request has,
// and which metrics it moves.
//
// It must not know how requests are answered.
package accounting

import (
	"time"

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/metrics"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// Requests is the api.Observer that counts requests in metrics.
type Requests struct{ m *metrics.Metrics }

// New makes an observer that counts in m.
func New(m *metrics.Metrics) Requests { return Requests{m} }

// Begin implements api.Observer.
func (o Requests) Begin(i *api.Info, dryRun bool) func(api.Outcome) {
	h := o.m.Request(i.Verb, i.Group, i.Version, i.Plural, i.Subresource, scope(i))
	if dryRun {
		h = h.DryRun()
	}
	if i.Verb == "watch" {
		h.WatchStarted()
		return func(o api.Outcome) { h.WatchDone(metrics.Outcome{Code: o.Code, Terminated: o.Terminated}) }
	}
	inflight := o.m.Inflight(mutating(i.Verb))
	inflight.Add(1)
	start := time.Now()
	return func(o api.Outcome) {
		inflight.Add(-1)
		h.Done(metrics.Outcome{Code: o.Code, Took: time.Since(start), Outside: o.Outside, Received: o.Received, Sent: o.Sent, Terminated: o.Terminated})
	}
}

// Deprecated implements api.Observer.
func (o Requests) Deprecated(i *api.Info, removedRelease string) {
	o.m.Deprecated(i.Group, i.Version, i.Plural, i.Subresource, removedRelease)
}

// Versioned implements api.Observer.
func (o Requests) Versioned(i *api.Info, by resource.Caller) {
	if by.User == nil {
		return
	}
	o.m.Clients.Asked(i.Group, i.Version, i.Plural, by.User.Name, by.UserAgent)
}

// Watching implements api.Observer.
func (o Requests) Watching(i *api.Info) func(events int) {
	counter := o.m.WatchEvents(i.Group, i.Version, i.Plural)
	return func(n int) { counter.Add(float64(n)) }
}

// Listed implements api.Observer.
func (o Requests) Listed(i *api.Info, took time.Duration) {
	o.m.Request(i.Verb, i.Group, i.Version, i.Plural, i.Subresource, scope(i)).WatchListed(took)
}

func scope(i *api.Info) string {
	switch {
	case i.Plural == "":
		return ""
	case i.Name != "" || i.Verb == "create":
		return "resource"
	case i.Namespace != "":
		return "namespace"
	}
	return "cluster"
}

func mutating(verb string) bool {
	switch verb {
	case "get", "list", "watch", "head":
		return false
	}
	return true
}
