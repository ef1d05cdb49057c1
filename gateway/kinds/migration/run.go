package migration

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// job is one migration while it is being reconciled.
type job struct {
	*Controller
	key      controller.Key
	uid      types.UID
	gr       schema.GroupResource
	controls controls
	state    State
	// since is the Revision of a state that an earlier run left, which may have
	// gone on after it; zero when this job began at the beginning itself.
	since int64
	// saved is the annotation that holds the progress, as this job read or last
	// wrote it, and saving what it may have written.
	saved, saving string
}

// run makes passes until one is clean, then ends the migration.
func (j *job) run(ctx context.Context) error {
	for {
		target, err := j.target(ctx)
		if err != nil {
			return err
		}
		if err := j.begin(ctx, target); err != nil {
			return err
		}
		whole := j.state.Cursor == ""
		result, err := j.pass(ctx)
		if err != nil {
			return err
		}
		clean := whole && result.Failed == 0 && result.Rewritten == 0
		if err := j.passEnded(ctx, result, clean, target.custom()); err != nil {
			return err
		}
		if !clean { // nor does a built-in kind's former run know what is stale by now
			continue
		}
		message := stored(j.state.Done) + " at " + target.StorageVersion
		if target.custom() {
			err := j.retireVersions(ctx, target)
			if errors.Is(err, ErrDefinitionChanged) {
				continue
			}
			if err != nil {
				return err
			}
			message += fmt.Sprintf("; status.storedVersions is [%s]", target.StorageVersion)
		}
		return j.report(ctx, succeeded, message)
	}
}

// begin makes the state fit the target. Another storage version, or another
// definition of the same name, starts over; a mere change of the definition
// does not, as every pass looks at everything that it leaves unsure.
func (j *job) begin(ctx context.Context, target target) error {
	s := &j.state
	if s.StorageVersion != target.StorageVersion || s.UID != target.UID {
		total, revision, err := j.rewriter.Count(ctx, j.gr)
		if err != nil {
			return fmt.Errorf("count %s: %w", j.gr, err)
		}
		// Who finds this state may find that more was done than it says. This
		// job knows what it does.
		*s, j.since = State{Migration: j.uid, Pass: 1, Total: total, Revision: revision}, 0
	}
	s.target = target
	if err := j.save(ctx); err != nil {
		return err
	}
	return j.report(ctx, running, "rewriting at "+target.StorageVersion)
}

// pass makes one call of Rewrite, saves its progress as it goes, and stops it
// when the controls change. The state holds what was reached in any case.
func (j *job) pass(ctx context.Context) (migrate.Progress, error) {
	opts := RewriteOptions{WriteRate: j.controls.rate} // which most of a later pass does not need
	if j.state.Pass == 1 {
		opts = RewriteOptions{From: j.state.Cursor, Since: j.since, Rate: j.controls.rate}
	}
	guarded, stop := j.guard(ctx)
	defer stop()

	base, started, saved := j.state, time.Now(), time.Now()
	reached := func(p migrate.Progress) {
		j.state = base.add(p)
		if base.Pass == 1 {
			j.state.Rate = perSecond(p.Done, time.Since(started))
		}
	}
	result, err := j.rewriter.Rewrite(guarded, j.gr, opts, func(p migrate.Progress) error {
		reached(p)
		if time.Since(saved) < j.saveEvery {
			return nil
		}
		saved = time.Now()
		return j.save(guarded)
	})
	reached(result)
	if err == nil {
		return result, nil
	}
	unsaved := j.saveLast(ctx)
	switch {
	case errors.Is(context.Cause(guarded), errControlsChanged) && ctx.Err() == nil:
		return result, errControlsChanged
	case unsaved != nil:
	case errors.Is(err, ErrDefinitionChanged):
		return result, &later{after: servingPoll, message: "going on with the definition as it is now"}
	case apierrors.IsTooManyRequests(err):
		return result, &later{after: j.retryAfter, message: gvr.Shorten("trying again: " + err.Error()), crowded: true}
	}
	return result, fmt.Errorf("rewrite %s: %w", j.gr, errors.Join(err, unsaved))
}

// passEnded moves on to the next pass, unless there were too many and none was clean.
func (j *job) passEnded(ctx context.Context, result migrate.Progress, clean, custom bool) error {
	s := &j.state
	if s.Pass == 1 {
		s.Total = s.Done
	}
	s.Pass, s.Cursor, s.Revision = s.Pass+1, "", 0
	failed := s.Failed > 0
	if failed {
		s.FailedPasses++
	}
	if err := j.save(ctx); err != nil {
		return err
	}
	switch {
	case failed && s.FailedPasses >= maxFailedPasses:
		return failf("%s", describeFailures(s, result.Failures))
	case failed:
		return &later{
			after:   j.retryAfter << (s.FailedPasses - 1),
			message: gvr.Shorten("trying again: " + describeFailures(s, result.Failures)),
		}
	case s.Pass > maxPasses && !clean && !custom:
		return failf("objects kept being written in another form through %d passes: do all gateways have the same release and the same file of encryption?", maxPasses)
	case s.Pass > maxPasses && !clean:
		return failf("objects at other versions than %s kept appearing through %d passes; status.storedVersions was left alone",
			s.StorageVersion, maxPasses)
	}
	return nil
}

// stored begins to say where objects are.
func stored(objects int64) string {
	if objects == 1 {
		return "1 object is stored"
	}
	return fmt.Sprintf("%d objects are stored", objects)
}

func describeFailures(s *State, last []migrate.Failure) string {
	names := s.Failures[:min(len(s.Failures), 10)]
	text := fmt.Sprintf("%d of %d objects could not be rewritten", s.Failed, s.Total)
	if len(names) > 0 {
		text += " (" + strings.Join(names, ", ")
		if int64(len(names)) < s.Failed {
			text += ", ..."
		}
		text += ")"
	}
	if n := len(last); n > 0 {
		text += ": " + last[n-1].Reason
	}
	return text + "; status.storedVersions was left alone"
}

// guard derives a context that ends when the migration is paused, throttled
// otherwise or deleted.
func (j *job) guard(ctx context.Context) (context.Context, func()) {
	guarded, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for controller.Pause(guarded, j.controlsEvery) {
			obj, err := j.objects.Get(guarded, gvr.Migrations, "", j.key.Name)
			if err != nil && !apierrors.IsNotFound(err) {
				continue
			}
			if err == nil && obj.GetUID() == j.uid && obj.GetDeletionTimestamp() == nil {
				if now, err := readControls(obj); err == nil && now == j.controls {
					continue
				}
			}
			cancel(errControlsChanged)
		}
	}()
	return guarded, func() { cancel(nil); <-ended }
}

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return math.Round(10*float64(n)/d.Seconds()) / 10
}
