package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RewriteOptions say where and how fast to rewrite.
type RewriteOptions struct {
	// From is the cursor of an earlier call's [Progress]; "" is the beginning.
	From string
	// Rate is the most objects per second; zero means as fast as it goes.
	Rate float64
}

// Progress is how far one call of Rewrite came. The counts begin at zero with
// each call.
type Progress struct {
	// Done counts the objects looked at: Rewritten + Skipped + Failed.
	Done int64
	// Rewritten were written at the storage version.
	Rewritten int64
	// Skipped were at the storage version already, or were deleted meanwhile.
	// One that somebody else wrote meanwhile is read again to find out.
	Skipped int64
	// Failed could not be read, converted or written.
	Failed int64
	// Failures names some of the failed ones, "namespace/name" or "name".
	Failures []string
	// Reason says why the last of Failures failed.
	Reason string
	// Cursor is where a later call goes on.
	Cursor string
}

// Rewriter writes stored objects again at their storage version.
type Rewriter interface {
	// Count returns how many objects of a resource are stored.
	Count(ctx context.Context, gr schema.GroupResource) (int64, error)
	// Rewrite goes once through all stored objects of a resource, from
	// opts.From on. It calls progress, from its own goroutine, after every
	// page at least. An error of progress, of ctx or of the store ends it; the
	// Progress returned with the error is still right and its cursor good. An
	// object that fails is counted and does not end it.
	Rewrite(ctx context.Context, gr schema.GroupResource, opts RewriteOptions, progress func(Progress) error) (Progress, error)
}

// Server knows what is being served.
type Server interface {
	// Serving returns the storage version of a resource that every later write
	// uses, and every write that has not ended yet. ok is false while that is
	// not settled, or nothing is served.
	Serving(ctx context.Context, gr schema.GroupResource) (storageVersion string, ok bool)
}

const (
	// migrationPoll is how soon to look again whether a definition is served.
	migrationPoll = 100 * time.Millisecond
	// maxPasses ends a migration that never sees a clean pass.
	maxPasses = 12
	// maxFailedPasses is how many passes may leave failed objects behind.
	maxFailedPasses = 3
)

// Migration carries out StorageVersionMigrations.
//
// It goes through the stored objects in passes. The first pass rewrites, is
// throttled, keeps its cursor in an annotation and goes on there after a
// restart. A definition's storedVersions are only ever reduced after a clean
// pass: one that went from beginning to end within this process, found nothing
// to rewrite and nothing that fails, while the definition did not change. So
// neither a stale cursor nor a write that was late can leave an object behind.
//
//	(new) -> waiting for the definition to be served -> pass 1 -> pass n ... -> Succeeded
//	             ^                                        |  |        |
//	             +--- the definition changed -------------+--+--------+-> Failed
type Migration struct {
	objects  Objects
	rewriter Rewriter
	server   Server
	// saveEvery and controlsEvery are shorter in tests.
	saveEvery     time.Duration
	controlsEvery time.Duration
	retryAfter    time.Duration
}

// NewMigration returns the controller.
func NewMigration(objects Objects, rewriter Rewriter, server Server) *Migration {
	return &Migration{
		objects: objects, rewriter: rewriter, server: server,
		saveEvery: 500 * time.Millisecond, controlsEvery: 200 * time.Millisecond, retryAfter: time.Second,
	}
}

// Name implements [Controller].
func (m *Migration) Name() string { return "migration" }

// Watches implements [Controller].
func (m *Migration) Watches() []schema.GroupResource {
	return []schema.GroupResource{MigrationResource}
}

// Workers implements [Concurrent]: a migration keeps its worker until it ends.
func (m *Migration) Workers() int { return 4 }

// Reconcile implements [Controller].
func (m *Migration) Reconcile(ctx context.Context, q Queue, key Key) error {
	obj, err := m.objects.Get(ctx, MigrationResource, "", key.Name)
	if err != nil {
		return ignoreNotFound(err)
	}
	if obj.GetDeletionTimestamp() != nil || migrationEnded(obj) {
		return nil
	}
	job := &migrationJob{Migration: m, key: key, uid: obj.GetUID(), gr: migratedResource(obj)}
	job.controls, err = readControls(obj)
	if err != nil {
		return job.report(ctx, migrationFailed, err.Error())
	}
	job.state = readState(obj)
	if job.controls.paused {
		return job.report(ctx, migrationPaused, "paused by annotation "+PausedAnnotation)
	}

	err = job.run(ctx)
	var failure *migrationFailure
	var later *migrationLater
	switch {
	case errors.As(err, &failure):
		return job.report(ctx, migrationFailed, failure.Error())
	case errors.As(err, &later):
		q.AddAfter(key, later.after)
		return job.report(ctx, migrationRunning, later.message)
	case errors.Is(err, errControlsChanged):
		q.Add(key)
		return nil
	case apierrors.IsNotFound(err) && !m.exists(ctx, job):
		return nil // the migration itself was deleted
	}
	return err
}

func (m *Migration) exists(ctx context.Context, job *migrationJob) bool {
	obj, err := m.objects.Get(ctx, MigrationResource, "", job.key.Name)
	return err == nil && obj.GetUID() == job.uid
}

// migrationFailure ends a migration for good.
type migrationFailure struct{ message string }

func (e *migrationFailure) Error() string { return e.message }

func failf(format string, args ...any) error {
	return &migrationFailure{message: shorten(fmt.Sprintf(format, args...))}
}

// migrationLater means that a migration cannot go on now.
type migrationLater struct {
	after   time.Duration
	message string
}

func (e *migrationLater) Error() string { return e.message }

// errControlsChanged means that somebody paused, throttled or deleted the
// migration while it ran.
var errControlsChanged = errors.New("the migration's annotations changed")

func migratedResource(obj *unstructured.Unstructured) schema.GroupResource {
	resource, _ := section(obj, "spec")["resource"].(map[string]any)
	group, _ := resource["group"].(string)
	name, _ := resource["resource"].(string)
	return schema.GroupResource{Group: group, Resource: name}
}
