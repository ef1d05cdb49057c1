// Package migration owns StorageVersionMigrations: every stored object of a
// resource is rewritten at the storage version, and a definition's
// storedVersions are reduced to it when that is proven.
//
// It must not know how objects are converted.
package migration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// Objects are the migrations and definitions as the controller uses them.
type Objects interface {
	client.Getter
	client.Updater
	client.Freshener
	client.Catalog
}

// RewriteOptions say where and how fast to rewrite.
type RewriteOptions struct {
	// From is the cursor of an earlier call's progress; "" is the beginning.
	From string
	// Since is the Revision of that progress, if that call may have gone on
	// after it; else zero.
	Since int64
	// Rate is the most objects per second, WriteRate the most that are written; zero
	// means as fast as it goes.
	Rate, WriteRate float64
}

// Rewriter writes stored objects again at their storage version.
type Rewriter interface {
	// Count returns how many objects of a resource are stored, at which revision
	// of the store.
	Count(ctx context.Context, gr schema.GroupResource) (n, revision int64, err error)
	// Rewrite goes once through all stored objects of a resource, from
	// opts.From on. It calls progress, from its own goroutine, after every
	// page at least. An error of progress, of ctx or of the store ends it; what
	// is returned with the error is still right and its cursor good. The counts
	// begin at zero with each call. An object that fails is counted, named
	// "namespace/name" or "name", and does not end it. It ends with
	// [ErrDefinitionChanged] when the objects are served in another form, and with
	// TooManyRequests while there is no room to convert any.
	Rewrite(ctx context.Context, gr schema.GroupResource, opts RewriteOptions, progress func(migrate.Progress) error) (migrate.Progress, error)
}

// Server knows what is being served.
type Server interface {
	// Serving returns the storage version of a resource that every later write
	// uses, and every write that has not ended yet. ok is false while that is
	// not settled, or nothing is served.
	Serving(ctx context.Context, gr schema.GroupResource) (storageVersion string, ok bool)
}

const (
	// servingPoll is how soon to look again whether a definition is served.
	servingPoll = 100 * time.Millisecond
	// maxPasses ends a migration that never sees a clean pass.
	maxPasses = 12
	// maxFailedPasses is how many passes may leave failed objects behind.
	maxFailedPasses = 3
	// maxCrowded is how often in a row there may be no room for one object.
	maxCrowded = 60
	// maxConflicts is how often a write that conflicts is tried again.
	maxConflicts = 8
)

// Controller carries out StorageVersionMigrations.
//
// It goes through the stored objects in passes. The first pass rewrites, is
// throttled, keeps its cursor in an annotation and goes on there after a
// restart. A migration only ever succeeds, and a definition's storedVersions are
// only ever reduced, after a clean pass: one that went from beginning to end
// within this process, found nothing to rewrite and nothing that fails, while the
// definition did not change. So neither a stale cursor, nor a write that was late,
// nor another key to encrypt with can leave an object behind.
//
//	(new) -> waiting for the definition to be served -> pass 1 -> pass n ... -> Succeeded
//	             ^                                        |  |        |
//	             +--- the definition changed -------------+--+--------+-> Failed
type Controller struct {
	objects  Objects
	rewriter Rewriter
	server   Server
	// saveEvery and controlsEvery are shorter in tests.
	saveEvery     time.Duration
	controlsEvery time.Duration
	retryAfter    time.Duration
	// resting are the migrations that wait, by name: what they say of that wakes them.
	resting sync.Map // of rest
}

// rest is how a migration waits.
type rest struct {
	uid   types.UID
	until time.Time
	// cursor is where it had no room, and times how often in a row.
	cursor string
	times  int
}

// New returns the controller.
func New(objects Objects, rewriter Rewriter, server Server) *Controller {
	return &Controller{
		objects: objects, rewriter: rewriter, server: server,
		saveEvery: 500 * time.Millisecond, controlsEvery: 200 * time.Millisecond, retryAfter: time.Second,
	}
}

// Name implements [controller.Controller].
func (m *Controller) Name() string { return "migration" }

// Watches implements [controller.Controller].
func (m *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.Migrations}
}

// Workers implements [controller.Concurrent]: a migration keeps its worker until it ends.
func (m *Controller) Workers() int { return 4 }

// Reconcile implements [controller.Controller].
func (m *Controller) Reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	if err := m.reconcile(ctx, q, key); !errors.Is(err, errEnded) {
		return err
	}
	return nil // what was read of it was of before it ended
}

func (m *Controller) reconcile(ctx context.Context, q controller.Queue, key controller.Key) error {
	obj, err := m.objects.Get(ctx, gvr.Migrations, "", key.Name)
	if apierrors.IsNotFound(err) {
		m.resting.Delete(key.Name)
		return nil
	}
	if err != nil {
		return err
	}
	if obj.GetDeletionTimestamp() != nil || ended(obj) {
		m.resting.Delete(key.Name)
		return nil
	}
	if left := m.rests(obj); left > 0 {
		q.AddAfter(key, left)
		return nil
	}
	j := &job{Controller: m, key: key, uid: obj.GetUID(), gr: resourceOf(obj)}
	j.controls, err = readControls(obj)
	if err != nil {
		return j.report(ctx, failed, err.Error())
	}
	j.saved = obj.GetAnnotations()[ProgressAnnotation]
	j.state = readState(obj)
	j.since = j.state.Revision
	if j.controls.paused {
		return j.report(ctx, paused, "paused by annotation "+PausedAnnotation)
	}

	err = j.run(ctx)
	var final *failure
	var wait *later
	switch {
	case errors.As(err, &final):
		return j.report(ctx, failed, final.Error())
	case errors.As(err, &wait):
		if m.rest(j, wait) == maxCrowded {
			return j.report(ctx, failed, gvr.Shorten(fmt.Sprintf("given up after %d attempts: %s; status.storedVersions was left alone", maxCrowded, wait.message)))
		}
		q.AddAfter(key, wait.after)
		return j.report(ctx, running, wait.message)
	case errors.Is(err, errControlsChanged):
		q.Add(key)
		return nil
	case apierrors.IsNotFound(err) && !m.exists(ctx, j):
		return nil // the migration itself was deleted
	}
	return err
}

// rests is for how long a migration is to wait yet.
func (m *Controller) rests(obj *unstructured.Unstructured) time.Duration {
	r, ok := m.resting.Load(obj.GetName())
	if !ok || r.(rest).uid != obj.GetUID() {
		return 0
	}
	return time.Until(r.(rest).until)
}

// rest lets a migration wait, and tells how often in a row it had no room at one place.
func (m *Controller) rest(j *job, wait *later) (times int) {
	next := rest{uid: j.uid, until: time.Now().Add(wait.after)}
	if wait.crowded {
		next.cursor, next.times = j.state.Cursor, 1
		if r, ok := m.resting.Load(j.key.Name); ok && r.(rest).uid == j.uid && r.(rest).times > 0 && r.(rest).cursor == next.cursor {
			next.times += r.(rest).times
		}
	}
	m.resting.Store(j.key.Name, next)
	return next.times
}

func (m *Controller) exists(ctx context.Context, j *job) bool {
	obj, err := m.objects.Get(ctx, gvr.Migrations, "", j.key.Name)
	return err == nil && obj.GetUID() == j.uid
}

// failure ends a migration for good.
type failure struct{ message string }

func (e *failure) Error() string { return e.message }

func failf(format string, args ...any) error {
	return &failure{message: gvr.Shorten(fmt.Sprintf(format, args...))}
}

// later means that a migration cannot go on now.
type later struct {
	after   time.Duration
	message string
	crowded bool // there was no room to convert
}

func (e *later) Error() string { return e.message }

// errControlsChanged means that somebody paused, throttled or deleted the
// migration while it ran.
var errControlsChanged = errors.New("the migration's annotations changed")

// errEnded means that the migration has ended meanwhile, here or elsewhere.
var errEnded = errors.New("the migration has ended")

// errElsewhere means that somebody else carries the migration out: this
// gateway is, or soon will be told that it is, the leader no more.
var errElsewhere = errors.New("the migration is carried out elsewhere")

func resourceOf(obj *unstructured.Unstructured) schema.GroupResource {
	resource, _ := gvr.Section(obj, "spec")["resource"].(map[string]any)
	group, _ := resource["group"].(string)
	name, _ := resource["resource"].(string)
	return schema.GroupResource{Group: group, Resource: name}
}
