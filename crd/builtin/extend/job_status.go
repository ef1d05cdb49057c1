package extend

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// span is a range of indexes, of which last is one.
type span struct{ first, last int32 }

// countIndexes counts the indexes of a list, which readIndexes reads.
func countIndexes(text string, limit int32) (total int32, err error) {
	spans, err := readIndexes(text, limit)
	for _, s := range spans {
		total += s.last - s.first + 1
	}
	return total, err
}

// readIndexes reads a list of indexes and of ranges of them, in order and below
// limit.
func readIndexes(text string, limit int32) (spans []span, err error) {
	if text == "" {
		return nil, nil
	}
	last := int32(-1)
	read := func(s string) (int32, error) {
		n, err := strconv.Atoi(s)
		switch {
		case err != nil:
			return 0, fmt.Errorf("cannot convert string to integer for index: %q", s)
		case n >= int(limit):
			return 0, fmt.Errorf("too large index: %q", s)
		case int32(n) <= last:
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, n)
		}
		last = int32(n)
		return last, nil
	}
	for _, part := range strings.Split(text, ",") {
		ends := strings.Split(part, "-")
		if len(ends) > 2 {
			return nil, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", part)
		}
		first, err := read(ends[0])
		if err != nil {
			return nil, err
		}
		to := first
		if len(ends) > 1 {
			if to, err = read(ends[1]); err != nil {
				return nil, err
			}
		}
		spans = append(spans, span{first, to})
	}
	return spans, nil
}

// shared is the first index that is in both of two lists, -1 for none.
func shared(a, b []span) int32 {
	for len(a) > 0 && len(b) > 0 {
		first := max(a[0].first, b[0].first)
		if first <= min(a[0].last, b[0].last) {
			return first
		}
		if a[0].last < b[0].last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return -1
}

// validateSuccessPolicy checks the indexes that make a job a success.
func validateSuccessPolicy(spec *batchv1.JobSpec, rules *field.Path) (errs field.ErrorList) {
	if spec.SuccessPolicy == nil || spec.Completions == nil {
		return nil
	}
	for i, r := range spec.SuccessPolicy.Rules {
		if r.SucceededIndexes == nil {
			continue
		}
		total, err := countIndexes(*r.SucceededIndexes, *spec.Completions)
		if err != nil {
			errs = append(errs, field.Invalid(rules.Index(i).Child("succeededIndexes"), *r.SucceededIndexes, "error parsing succeededIndexes: "+err.Error()))
		}
		if r.SucceededCount != nil && *r.SucceededCount > total {
			errs = append(errs, field.Invalid(rules.Index(i).Child("succeededCount"), *r.SucceededCount,
				fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total)))
		}
	}
	return errs
}

// jobState is what the checks of a job's status look at.
type jobState struct {
	*batchv1.Job
}

func (j jobState) is(condition batchv1.JobConditionType) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == condition && c.Status == corev1.ConditionTrue })
}

func (j jobState) finished() bool { return j.is(batchv1.JobComplete) || j.is(batchv1.JobFailed) }

func (j jobState) indexed() bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}

// validateJobStatus checks what a controller writes of a job: what it says has to
// fit together, and an end is one for good. A status that was wrong before may
// stay so.
func validateJobStatus(job, before *batchv1.Job) field.ErrorList {
	now, was, at := jobState{job}, jobState{before}, field.NewPath("status")
	errs := validateUncounted(now.Status.UncountedTerminatedPods, at.Child("uncountedTerminatedPods"))
	errs = append(errs, validateJobConditions(now, was, at.Child("conditions"))...)
	errs = append(errs, validateJobTimes(now, was, at)...)
	errs = append(errs, validateJobIndexes(now, was, at)...)
	s, old := &now.Status, &was.Status
	ended := now.finished() != was.finished()
	if n := deref(s.Ready); n > s.Active && (!reflect.DeepEqual(s.Ready, old.Ready) || s.Active != old.Active) {
		errs = append(errs, field.Invalid(at.Child("ready"), n, "cannot set more ready pods than active"))
	}
	if now.finished() && s.Active > 0 && (ended || s.Active != old.Active) {
		errs = append(errs, field.Invalid(at.Child("active"), s.Active, "active>0 is invalid for finished job"))
	}
	if n := deref(s.Terminating); now.finished() && n > 0 && (ended || !reflect.DeepEqual(s.Terminating, old.Terminating)) {
		errs = append(errs, field.Invalid(at.Child("terminating"), n, "terminating>0 is invalid for finished job"))
	}
	if u := s.UncountedTerminatedPods; now.finished() && u != nil && len(u.Failed)+len(u.Succeeded) > 0 && (ended || !reflect.DeepEqual(u, old.UncountedTerminatedPods)) {
		errs = append(errs, field.Invalid(at.Child("uncountedTerminatedPods"), u, "must be empty for finished job"))
	}
	if s.Failed < old.Failed {
		errs = append(errs, field.Invalid(at.Child("failed"), s.Failed, "cannot decrease the failed counter"))
	}
	scaled := now.indexed() && reflect.DeepEqual(now.Spec.Completions, now.Spec.Parallelism) // which may have fewer by now
	if s.Succeeded < old.Succeeded && !scaled {
		errs = append(errs, field.Invalid(at.Child("succeeded"), s.Succeeded, "cannot decrease the succeeded counter"))
	}
	return errs
}

func deref(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

func validateUncounted(u *batchv1.UncountedTerminatedPods, at *field.Path) (errs field.ErrorList) {
	if u == nil {
		return nil
	}
	seen := map[types.UID]bool{}
	for _, list := range []struct {
		name string
		uids []types.UID
	}{{"succeeded", u.Succeeded}, {"failed", u.Failed}} {
		for i, uid := range list.uids {
			if uid == "" {
				errs = append(errs, field.Invalid(at.Child(list.name).Index(i), uid, "must not be empty"))
			} else if seen[uid] {
				errs = append(errs, field.Duplicate(at.Child(list.name).Index(i), uid))
			}
			seen[uid] = true
		}
	}
	return errs
}

// validateJobConditions refuses conditions that contradict each other, and an end
// that is taken back.
func validateJobConditions(now, was jobState, at *field.Path) (errs field.ErrorList) {
	complete, failed, target, met := now.is(batchv1.JobComplete), now.is(batchv1.JobFailed), now.is(batchv1.JobFailureTarget), now.is(batchv1.JobSuccessCriteriaMet)
	changed := func(types ...batchv1.JobConditionType) bool {
		return slices.ContainsFunc(types, func(t batchv1.JobConditionType) bool { return now.is(t) != was.is(t) })
	}
	indexes := !reflect.DeepEqual(now.Status.FailedIndexes, was.Status.FailedIndexes)
	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{complete && failed && changed(batchv1.JobComplete, batchv1.JobFailed), "cannot set Complete=True and Failed=true conditions"},
		{complete && target && changed(batchv1.JobComplete, batchv1.JobFailureTarget), "cannot set Complete=True and FailureTarget=true conditions"},
		{failed && !target && (changed(batchv1.JobFailed) || indexes), "cannot set Failed=True condition without the FailureTarget=true condition"},
		{complete && !met && changed(batchv1.JobComplete, batchv1.JobSuccessCriteriaMet), "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"},
		{met && failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"},
		{met && target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"},
		{now.Spec.SuccessPolicy != nil && !met && complete, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"},
		{was.is(batchv1.JobFailed) && !failed, "cannot disable the terminal Failed=True condition"},
		{was.is(batchv1.JobComplete) && !complete, "cannot disable the terminal Complete=True condition"},
		{was.is(batchv1.JobFailureTarget) && !target, "cannot disable the terminal FailureTarget=True condition"},
		{was.is(batchv1.JobSuccessCriteriaMet) && !met, "cannot disable the SuccessCriteriaMet=True condition"},
		{was.is(batchv1.JobComplete) && !was.is(batchv1.JobSuccessCriteriaMet) && met, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"},
	} {
		if c.wrong {
			errs = append(errs, field.Invalid(at, field.OmitValueType{}, c.why))
		}
	}
	return errs
}

// validateJobTimes checks when a job began and was complete.
func validateJobTimes(now, was jobState, at *field.Path) (errs field.ErrorList) {
	s, old := &now.Status, &was.Status
	complete := now.is(batchv1.JobComplete)
	started, completed := !s.StartTime.Equal(old.StartTime), !s.CompletionTime.Equal(old.CompletionTime)
	done := complete != was.is(batchv1.JobComplete) || completed
	suspended := now.Spec.Suspend != nil && *now.Spec.Suspend
	resuming := was.is(batchv1.JobSuspended) && slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionFalse
	})
	if done && s.CompletionTime != nil && !complete {
		errs = append(errs, field.Invalid(at.Child("completionTime"), s.CompletionTime, "cannot set completionTime when there is no Complete=True condition"))
	}
	if done && s.CompletionTime == nil && complete {
		errs = append(errs, field.Required(at.Child("completionTime"), "completionTime is required for Complete jobs"))
	}
	if (started || completed) && s.StartTime != nil && s.CompletionTime != nil && s.CompletionTime.Before(s.StartTime) {
		errs = append(errs, field.Invalid(at.Child("completionTime"), s.CompletionTime, "must be equal to or after `startTime`"))
	}
	if completed && s.CompletionTime != nil && old.CompletionTime != nil {
		errs = append(errs, field.Invalid(at.Child("completionTime"), s.CompletionTime, "field is immutable"))
	}
	none := suspended && now.Spec.Completions != nil && *now.Spec.Completions == 0
	if s.StartTime == nil && now.finished() && (now.finished() != was.finished() || started) && !none {
		errs = append(errs, field.Required(at.Child("startTime"), "startTime is required for finished job"))
	}
	if started && old.StartTime != nil && !suspended && !resuming {
		errs = append(errs, field.Invalid(at.Child("startTime"), s.StartTime, "field is immutable for unsuspended job once set"))
	}
	return errs
}

// validateJobIndexes checks which indexes of a job are complete, and which failed.
func validateJobIndexes(now, was jobState, at *field.Path) (errs field.ErrorList) {
	s := &now.Status
	if s.CompletedIndexes != was.Status.CompletedIndexes {
		path := at.Child("completedIndexes")
		if s.CompletedIndexes != "" && !now.indexed() {
			errs = append(errs, field.Invalid(path, s.CompletedIndexes, "cannot set non-empty completedIndexes when non-indexed completion mode"))
		}
		if now.Spec.Completions != nil {
			if _, err := countIndexes(s.CompletedIndexes, *now.Spec.Completions); err != nil {
				errs = append(errs, field.Invalid(path, s.CompletedIndexes, "error parsing completedIndexes: "+err.Error()))
			}
		}
	}
	if s.FailedIndexes != nil {
		errs = append(errs, validateFailedIndexes(now, was, at.Child("failedIndexes"))...)
	}
	return errs
}

// validateFailedIndexes checks those that failed, of which none is complete.
func validateFailedIndexes(now, was jobState, path *field.Path) (errs field.ErrorList) {
	text, limit := *now.Status.FailedIndexes, now.Spec.Completions
	same := reflect.DeepEqual(now.Status.FailedIndexes, was.Status.FailedIndexes)
	if !same && now.Spec.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Invalid(path, text, "cannot set non-null failedIndexes when backoffLimitPerIndex is null"))
	}
	if limit == nil || same && now.Status.CompletedIndexes == was.Status.CompletedIndexes {
		return errs
	}
	failed, err := readIndexes(text, *limit)
	if err != nil && !same && now.Spec.BackoffLimitPerIndex != nil {
		errs = append(errs, field.Invalid(path, text, "error parsing failedIndexes: "+err.Error()))
	}
	complete, _ := readIndexes(now.Status.CompletedIndexes, *limit)
	if both := shared(failed, complete); both >= 0 {
		errs = append(errs, field.Invalid(path, text, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", both)))
	}
	return errs
}
