// Package load owns the controllers of WasmModules: one lets the revision that an
// object asks for serve, keeps the last good one when that is refused, and says so
// in the status; the other removes contents that no module refers to.
//
// It must not know the Wasm runtime, nor where contents are kept.
package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/gateway/kinds/module/trust"
	"github.com/wasmgate/wasmgate/plugins"
)

// Objects are the modules as the controller uses them.
type Objects interface {
	client.Getter
	client.Updater
	module.Lister
}

// Runtime runs modules.
type Runtime interface {
	// Set compiles rev and, if that works, lets it serve calls to name instead
	// of the revision before. Otherwise the one before keeps serving. A
	// *[plugins.LoadError] whose reason is not final, and other errors, are worth
	// another try.
	Set(ctx context.Context, name string, rev plugins.Revision) error
	// Status tells what serves, if anything does; ok is false when the name was
	// never set.
	Status(name string) (status plugins.Status, ok bool)
	// Grant lets the module of that name look objects up from now on, and nothing
	// else.
	Grant(name string, grants []plugins.Grant)
	// Withdraw lets what serves under a name serve no more, whatever is being loaded;
	// calls fail with why.
	Withdraw(name string, why *plugins.LoadError)
	// Remove forgets a module; a name that is unknown is no error.
	Remove(name string)
}

// Controller loads WasmModules and reports on them. Every gateway runs
// it, as each compiles for itself.
//
//	            good                      bad
//	(nothing) ------> serving R1 ------------------> serving R1, R2 refused
//	    |                ^  ^                              |         | restart
//	    | bad            |  +----- good R3 ----------------+         v
//	    v                |                               R1 loaded again from its
//	refused -------------+ good                          digest in the status,
//	                                                     then R2 tried
//
// A revision that lacks a hook which R1 has and something refers to counts as
// bad until nothing does (consent.go).
type Controller struct {
	objects Objects
	modules Runtime
	content module.Content
	trust   *trust.Policies
	now     func() time.Time

	// mu guards loaded, not what it points to: one name is reconciled by one
	// worker at a time.
	mu     sync.Mutex
	loaded map[string]*loaded
}

// loaded is what this gateway made of one module.
type loaded struct {
	name string
	uid  types.UID
	// refused is the last revision that was, so that it is not compiled again
	// for every change of the object.
	refused    string
	refusedFor *module.Refusal
	// has are the hooks of that revision when what refers to the module is what
	// refuses it, else nil.
	has []plugins.Hook
	// late are the revisions whose start was late.
	late lateStarts
	// stored is the digest of the inline bytes that the content store has.
	stored string
	// unkept says why inline bytes that serve are not in the content store, ""
	// when they are.
	unkept string
	// evidence is what contents that were loaded, or refused, say of themselves, by
	// digest. Guarded by Controller.mu.
	evidence map[string]*trust.Evidence
	// withdrawn tells that what served does not since the worker looked last. Guarded by
	// Controller.mu.
	withdrawn bool
	// looked tells that this gateway tried to load what it can.
	looked atomic.Bool
	// restored tells that the search for an earlier good revision has ended.
	restored bool
	// awaited is what is on its way, "" for nothing, and since when.
	awaited string
	since   time.Time
	// reported is the last outcome that was written. Another gateway may come
	// to another; writing only what is new keeps the two from correcting each
	// other for ever.
	reported string
}

// New returns the controller.
func New(objects Objects, modules Runtime, content module.Content, policies *trust.Policies) *Controller {
	return &Controller{objects: objects, modules: modules, content: content, trust: policies, now: time.Now, loaded: map[string]*loaded{}}
}

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "modules" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Modules, gvr.Trusts, gvr.Definitions}
}

// Workers implements [controller.Concurrent].
//
// A worker waits while a module is loaded, so there are more than would keep
// the processors busy.
func (c *Controller) Workers() int { return 8 }

// Reconcile implements [controller.Controller].
func (c *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if key.GroupResource != gvr.Modules {
		if c.matters(ctx, key) {
			c.lookAgain(q)
		}
		return nil
	}
	obj, err := c.objects.Get(ctx, gvr.Modules, "", key.Name)
	if apierrors.IsNotFound(err) {
		q.Follow(key)
		c.forget(key.Name)
		return nil
	}
	if err != nil {
		return err
	}
	m := c.moduleOf(obj)
	c.modules.Grant(key.Name, module.GrantsOf(obj))
	wanted, problem := module.Wanted(obj, c.content.Digest)
	c.distrust(ctx, obj, m)
	restoreErr := c.restore(ctx, obj, m, wanted)
	if problem == nil {
		problem, err = c.load(ctx, obj, m, wanted)
	}
	if problem == nil && err != nil {
		return err
	}
	q.Follow(key, awaited(problem)...)
	if problem != nil {
		err = errors.Join(err, restoreErr)
	}
	m.looked.Store(true)
	for _, left := range []time.Duration{c.patience(obj, m, problem), m.late.next(c.now())} {
		if left > 0 {
			q.AddAfter(key, left)
		}
	}
	if reportErr := c.report(ctx, obj, m, wanted, problem); reportErr != nil {
		return gvr.IgnoreNotFound(reportErr)
	}
	return err
}

// expectedWithin is how long content may be on its way before that it is missing
// is told as a failure.
const expectedWithin = time.Minute

// patience is for how long yet a problem is none, as what is missing is expected;
// then it is one.
func (c *Controller) patience(obj *unstructured.Unstructured, m *loaded, problem *module.Refusal) time.Duration {
	if problem == nil || !problem.Expected || problem.Reason == module.AwaitingProof { // whose end is known
		m.awaited = ""
		return 0
	}
	told := meta.FindStatusCondition(module.StatusOf(obj).Conditions, module.Compiled)
	if what := problem.Reason + problem.Message; m.awaited != what {
		m.awaited, m.since = what, c.now()
		if told != nil && told.Status == metav1.ConditionFalse && told.Reason == problem.Reason { // for longer than this gateway knows
			m.since = time.Time{}
		}
	}
	left := expectedWithin - c.now().Sub(m.since)
	problem.Expected = left > 0
	return left
}

// set loads one revision.
func (c *Controller) set(ctx context.Context, name string, rev plugins.Revision) (*module.Refusal, error) {
	err := c.modules.Set(ctx, name, rev)
	var refused *plugins.LoadError
	switch {
	case errors.As(err, &refused):
		return c.refusalOf(name, refused)
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return &module.Refusal{Reason: "LoadFailed", Message: err.Error()}, err
	}
	return nil, nil
}

// serving is what is known of what serves under a name.
func (c *Controller) serving(name string) plugins.Status {
	status, _ := c.modules.Status(name) // the zero value serves nothing
	return status
}

// refusalOf words what the runtime refuses. The error besides is for what may
// be accepted when tried again.
func (c *Controller) refusalOf(name string, refused *plugins.LoadError) (*module.Refusal, error) {
	r := &module.Refusal{Reason: string(refused.Reason), Message: refused.Detail}
	switch refused.Reason {
	case plugins.Quarantined:
		r.Message += "; give it other content, or let it be tried once more with: " + retryCommand(name)
	case plugins.ConfigRefused:
		r.Message += fmt.Sprintf("; give it another spec.config, or push it with one: wasmgate module push %s FILE.wasm --config CONFIG.yaml", name)
	case plugins.CompileMemory:
		r.Message += "; " + compilerHint(name, "--module-compile-memory")
	case plugins.CompileTime:
		r.Message += "; " + compilerHint(name, "--module-compile-time")
	case plugins.Slow:
		return r, refused
	}
	return r, nil
}

// restore lets the revision serve that did before this process started, unless
// that is what is wanted. It comes first: the newest may take minutes to be
// refused, and calls would have nothing meanwhile.
func (c *Controller) restore(ctx context.Context, obj *unstructured.Unstructured, m *loaded, wanted *plugins.Revision) error {
	if m.restored || c.serving(obj.GetName()).Serving != nil {
		return nil
	}
	rev, ok := module.LastGood(obj)
	if !ok {
		m.restored = !module.Unproven(obj, module.StatusOf(obj))
		return nil
	}
	identity := module.Identity(rev)
	if wanted != nil && wanted.Same(rev) || m.late.paused(c.now(), identity) != nil {
		return nil
	}
	var err error
	if rev.Bytes, err = c.content.Get(ctx, rev.Digest); errors.Is(err, module.ErrNoContent) || errors.Is(err, module.ErrContentDamaged) {
		m.tried(obj, rev, !module.Promotes(obj))
		return nil
	} else if err != nil {
		return err
	}
	m.saw(c, rev)
	if c.judge(ctx, obj, m, rev.Digest).Refused != nil {
		return nil // it may be let serve again
	}
	refused, err := c.set(ctx, obj.GetName(), rev)
	if err != nil {
		return err
	}
	m.late.note(c.now(), identity, refused)
	m.restored = refused == nil || plugins.LoadReason(refused.Reason).Final()
	return nil
}

// tried notes that rev could not be loaded, and whether the search for what
// served ends with that. Where nothing else may take its place, content that is
// lost is looked for again: it may be uploaded once more.
func (m *loaded) tried(obj *unstructured.Unstructured, rev plugins.Revision, final bool) {
	if last, ok := module.LastGood(obj); ok && last.Same(rev) {
		m.restored = final
	}
}

// moduleOf finds what was loaded under obj's name; a module that was deleted
// and created again starts from nothing.
func (c *Controller) moduleOf(obj *unstructured.Unstructured) *loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.loaded[obj.GetName()]
	if m != nil && m.uid != obj.GetUID() {
		c.modules.Remove(obj.GetName())
		m = nil
	}
	if m == nil {
		m = &loaded{name: obj.GetName(), uid: obj.GetUID(), evidence: map[string]*trust.Evidence{}, late: lateStarts{}}
		c.loaded[obj.GetName()] = m
	}
	return m
}

// Looked tells that this gateway tried to load a module: the newest revision,
// and where that is refused the one before.
func (c *Controller) Looked(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.loaded[name]
	return m != nil && m.looked.Load()
}

func (c *Controller) forget(name string) {
	c.modules.Remove(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.loaded, name)
}
