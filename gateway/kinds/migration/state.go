package migration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/storage/migrate"
)

// The annotations of a StorageVersionMigration.
const (
	// ProgressAnnotation holds a [State] as JSON.
	ProgressAnnotation = "migration.wasmgate.dev/progress"
	// PausedAnnotation stops a migration while it is "true".
	PausedAnnotation = "migration.wasmgate.dev/paused"
	// RateAnnotation is the most objects per second, a number above zero.
	RateAnnotation = "migration.wasmgate.dev/rate"
)

// State is what a StorageVersionMigration says about itself in
// [ProgressAnnotation].
type State struct {
	// Migration is the uid of the migration that reached this.
	Migration types.UID `json:"migration"`

	Total     int64 `json:"total"`
	Done      int64 `json:"done"`
	Rewritten int64 `json:"rewritten"`
	Skipped   int64 `json:"skipped"`
	Failed    int64 `json:"failed"`
	// Failures names some of the failed objects.
	Failures []string `json:"failures,omitempty"`
	// Rate is the objects per second of the first pass.
	Rate float64 `json:"rate"`
	// Cursor is where the first pass goes on.
	Cursor string `json:"cursor"`
	// Revision is one of the store from before the first pass went on behind
	// Cursor, while it may have: that of the page that ends there, as a rule. It is
	// zero when it was stopped there.
	Revision int64 `json:"revision,omitempty"`
	// Pass is the pass that is under way, from 1; later ones only check.
	Pass int `json:"pass"`
	// FailedPasses counts the passes that left failed objects behind.
	FailedPasses int `json:"failedPasses,omitempty"`

	target
}

// target is the definition as it was when a pass began.
type target struct {
	StorageVersion string    `json:"storageVersion,omitempty"`
	Generation     int64     `json:"generation,omitempty"`
	UID            types.UID `json:"uid,omitempty"`
}

// maxFailures bounds the names of failed objects that are kept.
const maxFailures = 100

// lastSave is how long the progress may take to be saved at the end.
const lastSave = 2 * time.Second

// readState reads the saved progress. What cannot be read, or is another
// migration's, counts as nothing done: rewriting again is harmless.
func readState(obj *unstructured.Unstructured) State {
	var s State
	saved := obj.GetAnnotations()[ProgressAnnotation]
	if saved == "" || json.Unmarshal([]byte(saved), &s) != nil ||
		s.Migration != obj.GetUID() || s.Done < 0 || s.Total < 0 || s.Revision < 0 || s.Pass < 0 || s.FailedPasses < 0 {
		s = State{}
	}
	s.Migration, s.Pass = obj.GetUID(), max(1, s.Pass)
	s.Failures = s.Failures[:min(len(s.Failures), maxFailures)]
	return s
}

// add returns s with the progress of one call of Rewrite in pass s.Pass. A
// later pass counts again what the first counted, except what it changes.
func (s State) add(p migrate.Progress) State {
	s.Rewritten += p.Rewritten
	if s.Pass > 1 {
		s.Failed, s.Failures = p.Failed, withNames(nil, p.Failures)
		return s
	}
	s.Done += p.Done
	s.Total = max(s.Total, s.Done)
	s.Skipped += p.Skipped
	s.Failed += p.Failed
	s.Failures = withNames(s.Failures, p.Failures)
	s.Cursor, s.Revision = p.Cursor, p.Revision
	return s
}

// withNames returns names, which it leaves as they are, with those of failed
// objects, as far as there is room.
func withNames(names []string, failed []migrate.Failure) []string {
	names = slices.Clone(names)
	for _, f := range failed[:min(len(failed), maxFailures-len(names))] {
		names = append(names, f.Key)
	}
	return names
}

// controls are what a user may change while a migration runs.
type controls struct {
	paused bool
	rate   float64
}

func readControls(obj *unstructured.Unstructured) (controls, error) {
	annotations := obj.GetAnnotations()
	c := controls{paused: annotations[PausedAnnotation] == "true"}
	if text, ok := annotations[RateAnnotation]; ok {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(rate) || math.IsInf(rate, 0) || rate <= 0 {
			return c, fmt.Errorf("annotation %s: %q is not a number above zero", RateAnnotation, text)
		}
		c.rate = rate
	}
	return c, nil
}

// save writes the progress into the annotation, unless somebody else did since
// this job read or wrote it.
func (j *job) save(ctx context.Context) error {
	b, err := json.Marshal(&j.state)
	if err != nil {
		return fmt.Errorf("encode progress: %w", err)
	}
	text := string(b)
	err = j.update(ctx, "", func(obj *unstructured.Unstructured) (bool, error) {
		annotations := obj.GetAnnotations()
		switch annotations[ProgressAnnotation] {
		case text:
			return false, nil
		case "", j.saved, j.saving:
		default:
			return false, errElsewhere
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		j.saving = text
		annotations[ProgressAnnotation] = text
		obj.SetAnnotations(annotations)
		return true, nil
	})
	if err == nil {
		j.saved = text
	}
	return err
}

// saveLast saves the progress, also when this gateway is about to end or has
// lost the lead.
func (j *job) saveLast(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
	defer cancel()
	return j.save(ctx)
}

// update changes the migration's object as it is now, through a subresource.
// It is tried again while others change it too; change reports whether there
// is anything to write. One that has ended is not changed.
func (j *job) update(ctx context.Context, subresource string, change func(*unstructured.Unstructured) (bool, error)) error {
	for try, fresh := 0, false; ; try++ {
		obj, err := j.objects.Get(ctx, gvr.Migrations, "", j.key.Name)
		if err != nil {
			return err
		}
		if obj.GetUID() != j.uid {
			return apierrors.NewNotFound(gvr.Migrations, j.key.Name)
		}
		if ended(obj) {
			return errEnded
		}
		changed, err := change(obj)
		if errors.Is(err, errElsewhere) && !fresh { // or the cache is behind
			if fresh, err = true, j.objects.Fresh(ctx); err == nil {
				continue
			}
		}
		if err != nil || !changed {
			return err
		}
		_, err = j.objects.Update(ctx, gvr.Migrations, subresource, obj)
		if !apierrors.IsConflict(err) || try == maxConflicts {
			return err
		}
		if err := j.objects.Fresh(ctx); err != nil {
			return err
		}
	}
}
