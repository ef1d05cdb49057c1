package health

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Endpoint is the first path segment of a health path.
type Endpoint string

// The endpoints.
const (
	Livez   Endpoint = "livez"
	Readyz  Endpoint = "readyz"
	Healthz Endpoint = "healthz"
)

// checkTimeout bounds a check that has no time of its own.
const checkTimeout = 2 * time.Second

// Check returns nil while a part of the gateway is well. It may block until
// its context ends, and is safe for concurrent use.
type Check func(ctx context.Context) error

type named struct {
	name  string
	check Check
	on    []Endpoint
	// within bounds the check; 0 means as long as the request.
	within time.Duration
	// alive is until when livez lets the check fail.
	alive time.Time
}

// Registry holds the checks, in the order in which they were added. It is safe
// for concurrent use.
type Registry struct {
	// failed is told about every failed check, with the reason that clients do
	// not get.
	failed func(endpoint Endpoint, check string, err error)
	// counted is told what every check of a whole endpoint came to.
	counted func(endpoint Endpoint, check string, well bool)

	mu     sync.RWMutex
	checks []named
}

// New returns a registry with the check "ping", which never fails. failed, if
// not nil, is called for every check that fails: health is open to everybody,
// so the reason goes to the log and not into the reply. counted, if not nil, is
// called for every check of a whole endpoint, failed or not.
func New(failed func(endpoint Endpoint, check string, err error), counted func(endpoint Endpoint, check string, well bool)) *Registry {
	if failed == nil {
		failed = func(Endpoint, string, error) {}
	}
	if counted == nil {
		counted = func(Endpoint, string, bool) {}
	}
	r := &Registry{failed: failed, counted: counted}
	r.Add("ping", func(context.Context) error { return nil })
	return r
}

// Add adds a check to the given endpoints, or to all if none is given. It fails
// after two seconds. Adding a name again replaces its check.
func (r *Registry) Add(name string, check Check, on ...Endpoint) {
	r.AddWithin(checkTimeout, name, check, on...)
}

// AddWithin is [Registry.Add] of a check that may take another time; 0 means as
// long as the request that asks.
func (r *Registry) AddWithin(within time.Duration, name string, check Check, on ...Endpoint) {
	if len(on) == 0 {
		on = []Endpoint{Livez, Readyz, Healthz}
	}
	r.add(named{name: name, check: check, within: within, on: on})
}

func (r *Registry) add(c named) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.checks, func(n named) bool { return n.name == c.name }); i >= 0 {
		r.checks[i] = c
		return
	}
	r.checks = append(r.checks, c)
}

// PostStartHook adds the check poststarthook/NAME to all endpoints. It fails
// until the returned function is called; livez lets that pass until alive, so that
// nobody restarts what only takes long to start.
func (r *Registry) PostStartHook(name string, alive time.Time) (finished func()) {
	var done atomic.Bool
	r.add(named{name: "poststarthook/" + name, on: []Endpoint{Livez, Readyz, Healthz}, alive: alive, check: func(context.Context) error {
		if !done.Load() {
			return errors.New("not finished")
		}
		return nil
	}})
	return func() { done.Store(true) }
}

// Shutdown adds the check "shutdown" to readyz. It fails once the returned
// function was called, so that load balancers look elsewhere while the gateway
// still answers.
func (r *Registry) Shutdown() (begin func()) {
	var stopping atomic.Bool
	r.Add("shutdown", func(context.Context) error {
		if stopping.Load() {
			return errors.New("process is shutting down")
		}
		return nil
	}, Readyz)
	return func() { stopping.Store(true) }
}

// Report answers GET /ENDPOINT: the HTTP status and the body, which is text.
// verbose lists the checks; a failure always does. exclude names checks to
// leave out.
func (r *Registry) Report(ctx context.Context, e Endpoint, verbose bool, exclude []string) (status int, body string) {
	var out strings.Builder
	skipped := map[string]bool{}
	failures := 0
	for _, c := range r.of(e) {
		if slices.Contains(exclude, c.name) {
			skipped[c.name] = true
			fmt.Fprintf(&out, "[+]%s excluded: ok\n", c.name)
			continue
		}
		err := c.run(ctx, e)
		r.counted(e, c.name, err == nil)
		if err != nil {
			r.failed(e, c.name, err)
			failures++
			fmt.Fprintf(&out, "[-]%s failed: reason withheld\n", c.name)
			continue
		}
		fmt.Fprintf(&out, "[+]%s ok\n", c.name)
	}
	if unknown := unmatched(exclude, skipped); len(unknown) > 0 {
		fmt.Fprintf(&out, "warn: some health checks cannot be excluded: no matches for %s\n", strings.Join(unknown, ","))
	}
	if failures > 0 {
		return 500, out.String() + string(e) + " check failed\n"
	}
	if !verbose {
		return 200, "ok"
	}
	return 200, out.String() + string(e) + " check passed\n"
}

// Single answers GET /ENDPOINT/NAME. An unknown name is a 404.
func (r *Registry) Single(ctx context.Context, e Endpoint, name string) (status int, body string) {
	for _, c := range r.of(e) {
		if c.name != name {
			continue
		}
		if err := c.run(ctx, e); err != nil {
			r.failed(e, name, err)
			return 500, "internal server error: reason withheld\n"
		}
		return 200, "ok"
	}
	return 404, "404 page not found\n"
}

// Serve answers a path such as "/livez" or "/readyz/poststarthook/x". ok is
// false when the path belongs to no endpoint.
func (r *Registry) Serve(ctx context.Context, path string, verbose bool, exclude []string) (status int, body string, ok bool) {
	endpoint, check, single := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	e := Endpoint(endpoint)
	if e != Livez && e != Readyz && e != Healthz {
		return 0, "", false
	}
	if single {
		status, body = r.Single(ctx, e, check)
	} else {
		status, body = r.Report(ctx, e, verbose, exclude)
	}
	return status, body, true
}

func (r *Registry) of(e Endpoint) []named {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []named
	for _, c := range r.checks {
		if slices.Contains(c.on, e) {
			out = append(out, c)
		}
	}
	return out
}

func (c named) run(ctx context.Context, e Endpoint) error {
	if e == Livez && time.Now().Before(c.alive) {
		return nil
	}
	if c.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.within)
		defer cancel()
	}
	return c.check(ctx)
}

// maxUnknown bounds what a client can make the reply repeat.
const maxUnknown = 16

// unmatched returns the excluded names that were no checks: sorted, once each
// and quoted.
func unmatched(exclude []string, known map[string]bool) []string {
	var out []string
	for _, name := range exclude {
		if q := fmt.Sprintf("%.100q", name); !known[name] && !slices.Contains(out, q) && len(out) < maxUnknown {
			out = append(out, q)
		}
	}
	slices.Sort(out)
	return out
}
