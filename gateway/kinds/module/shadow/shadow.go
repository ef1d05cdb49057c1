// Package shadow owns the trial of a module's candidate (spec.rollout: Shadow):
// it loads the revision that waits beside the one that serves, lets live objects
// be converted by both, and reports in the status what came out otherwise.
//
// It must not know how objects are read or converted, nor the Wasm runtime.
package shadow

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// Objects are modules and definitions as the controller uses them.
type Objects interface {
	client.Getter
	client.Lister
	client.Updater
}

// Runtime runs candidates beside what serves.
type Runtime interface {
	// Set compiles rev and lets it serve calls to name, as the controller that loads
	// modules does.
	Set(ctx context.Context, name string, rev plugins.Revision) error
	// Status tells what serves; ok is false when the name was never set.
	Status(name string) (status plugins.Status, ok bool)
	// Remove forgets a name.
	Remove(name string)
}

// Trials compares modules that are loaded.
type Trials interface {
	// Compare converts all objects of a custom resource with the modules called
	// now and next, and tells of parts of the work as they are done: of no
	// conversion where the module called now fails. It ends with the first error,
	// which may be told's.
	Compare(ctx context.Context, gr schema.GroupResource, now, next string, told func(module.Part) error) error
}

// Content has the bytes of modules by digest.
type Content interface {
	// Get returns the bytes that have the digest.
	Get(ctx context.Context, digest string) ([]byte, error)
	// Digest is the digest that bytes are kept under.
	Digest(bytes []byte) string
}

const (
	// interval is how often a report that grows is written.
	interval = 2 * time.Second
	// conflictPause is how long the cache is given at first to see another's
	// write.
	conflictPause = 20 * time.Millisecond
	// finishAttempts is how often the last report is written.
	finishAttempts = 100
	// patience is how long a trial goes on after the first failure, of either
	// module. One that waits for its limit at every object would else keep the
	// candidates of others waiting for days.
	patience = 5 * time.Minute
	// lateInARow is how many calls one after the other may meet the limit of
	// their time until a trial is stopped: a revision that loops does so for
	// each object.
	lateInARow = 3
	// retryDelay is how often it is looked whether there is something to compare
	// with.
	retryDelay = time.Second
	// workers is how many candidates are tried at a time; each trial uses all
	// processors anyway.
	workers = 1
)

// Controller tries candidates. It runs in one gateway.
type Controller struct {
	objects Objects
	modules Runtime
	content Content
	trials  Trials
}

// New returns the controller.
func New(objects Objects, modules Runtime, content Content, trials Trials) *Controller {
	return &Controller{objects: objects, modules: modules, content: content, trials: trials}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "module-candidates" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource { return []schema.GroupResource{gvr.Modules} }

// Workers implements [controller.Concurrent].
func (c *Controller) Workers() int { return workers }

// candidateName is what a module's candidate is loaded under: no module can have
// that name, and no reference name it.
func candidateName(name string) string { return name + "@candidate" }

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, gvr.Modules, "", key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	candidate, rev, ok := module.CandidateOf(obj, c.content.Digest)
	if !ok || candidate.Report.Ended() {
		return nil
	}
	now := c.serving(key.Name)
	if now == "" { // all would fail today, and nothing be compared
		q.AddAfter(key, retryDelay)
		return nil
	}
	t := trial{name: key.Name, revision: candidate.Revision, now: now, report: module.Report{State: module.Running, Message: loading}}
	if r := candidate.Report; r != nil { // which may say why it could not be tried before
		t.report.Message = r.Message
	}
	// The cache may not have the end of this very trial yet: that is a conflict,
	// after which it is looked again, where later ones wait for the next write.
	if err := c.put(ctx, &t); err != nil {
		return gvr.IgnoreNotFound(ignoreSuperseded(err))
	}
	if err = c.try(ctx, t, rev); errors.Is(err, errUnserved) {
		q.AddAfter(key, retryDelay)
		return nil
	}
	return gvr.IgnoreNotFound(err)
}

// serving names the revision that serves, "" for none.
func (c *Controller) serving(name string) string {
	status, _ := c.modules.Status(name)
	if status.Serving == nil {
		return ""
	}
	return module.RevisionName(*status.Serving)
}

// loading is said of a candidate before it is tried.
const loading = "it is being loaded"

// trial is one candidate being tried.
type trial struct {
	name, revision string
	now            string // the revision that it is compared with
	report         module.Report
	written        time.Time
	failing        time.Time // since when something failed, zero for nothing
	skipped        int       // conversions that fail today
	late           int       // calls in a row that met the limit of their time
}

var (
	// errSuperseded ends a trial whose candidate waits no more, or has its report.
	errSuperseded = errors.New("the candidate waits no more, or was tried")
	// errUnserved ends a trial whose other side serves no more: it begins anew with what
	// serves then.
	errUnserved = errors.New("what it was compared with serves no more")
	// errFailing ends a trial in which something fails, and takes its time.
	errFailing = fmt.Errorf("it was stopped %s after the first failure", patience)
	// errLate ends a trial of what does not end.
	errLate = fmt.Errorf("it was stopped after %d calls in a row that did not end within their time, spec.limits.timeout", lateInARow)
)

// try loads a candidate, compares it over every resource that converts with the
// module, and writes the report.
func (c *Controller) try(ctx context.Context, t trial, rev plugins.Revision) error {
	if rev.Bytes == nil {
		var err error
		if rev.Bytes, err = c.content.Get(ctx, rev.Digest); err != nil {
			return c.waits(ctx, &t, err)
		}
	}
	defer c.modules.Remove(candidateName(t.name))
	err := c.modules.Set(ctx, candidateName(t.name), rev)
	var refused *plugins.LoadError
	if errors.As(err, &refused) && (refused.Reason.Final() || refused.Reason == plugins.StartLate) { // which would take a processor each time
		t.report = module.Report{State: module.Refused, Message: string(refused.Reason) + ": " + refused.Detail}
		return c.finish(ctx, &t)
	}
	if err != nil {
		return c.waits(ctx, &t, err)
	}
	resources, err := c.converted(ctx, t.name)
	if err != nil {
		return err
	}
	if t.report.Message == loading { // why it waited before stays until something is compared
		t.report.Message = ""
	}
	if err := c.write(ctx, &t); err != nil {
		return ignoreSuperseded(err)
	}
	err = c.compare(ctx, &t, resources)
	var full interface{ Later() bool }
	switch {
	case errors.Is(err, errSuperseded):
		return nil
	case errors.As(err, &full) && full.Later(): // of which nobody else would tell
		return c.waits(ctx, &t, err)
	case err != nil && !errors.Is(err, errFailing) && !errors.Is(err, errLate):
		return err
	}
	t.report.State = module.Completed
	t.report.Message = summary(t.report, len(resources))
	if t.skipped > 0 {
		t.report.Message += fmt.Sprintf("; %d fail with the present revision, so there was nothing to compare", t.skipped)
	}
	if err != nil {
		t.report.State = module.Stopped
		t.report.Message += fmt.Sprintf("; %s, and the other objects were not tried", err)
	}
	return c.finish(ctx, &t)
}

// compare lets all objects of resources be converted.
func (c *Controller) compare(ctx context.Context, t *trial, resources []schema.GroupResource) error {
	for _, gr := range resources {
		err := c.trials.Compare(ctx, gr, t.name, candidateName(t.name), func(part module.Part) error { return c.add(ctx, t, part) })
		if errors.Is(err, errFailing) || errors.Is(err, errLate) || errors.Is(err, errUnserved) {
			return err
		}
		if err != nil && !apierrors.IsNotFound(err) { // not found: no longer served
			return fmt.Errorf("try the candidate of module %q over %s: %w", t.name, gr, err)
		}
	}
	return nil
}

// add counts a part, and from time to time writes what there is.
func (c *Controller) add(ctx context.Context, t *trial, part module.Part) error {
	for i := range part.Failures {
		part.Failures[i].Reason = gvr.Shorten(part.Failures[i].Reason)
	}
	if c.serving(t.name) != t.now { // it was compared with something else, or nothing
		return errUnserved
	}
	if part.Conversions == 0 {
		t.skipped++
	}
	t.report.Message = ""
	t.report.Add(part.Report)
	if !part.Late {
		t.late = 0
	} else if t.late++; t.late == lateInARow {
		return errLate
	}
	if (part.Failed > 0 || part.Conversions == 0) && t.failing.IsZero() {
		t.failing = time.Now()
	}
	if !t.failing.IsZero() && time.Since(t.failing) > patience {
		return errFailing
	}
	if time.Since(t.written) < interval {
		return nil
	}
	return c.write(ctx, t)
}

// converted are the resources that convert with a module.
func (c *Controller) converted(ctx context.Context, name string) ([]schema.GroupResource, error) {
	definitions, err := c.objects.List(ctx, gvr.Definitions, "")
	if err != nil {
		return nil, err
	}
	var all []schema.GroupResource
	for _, d := range definitions {
		for _, ref := range module.References(gvr.Definitions, d.Object) {
			if ref.Module == name {
				outline, err := gvr.Outline(d)
				if err != nil {
					return nil, err
				}
				all = append(all, schema.GroupResource{Group: outline.Spec.Group, Resource: outline.Spec.Names.Plural})
			}
		}
	}
	return all, nil
}

// summary is a report in one line.
func summary(r module.Report, resources int) string {
	if resources == 0 {
		return "no resource converts with this module, so there was nothing to compare"
	}
	return fmt.Sprintf("conversions: %d, different: %d, failed: %d", r.Conversions, r.Different, r.Failed)
}
