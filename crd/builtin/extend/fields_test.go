package extend

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What ended a pod is what its row says.
func TestAPodIsWhatItsStatusSaysOfIt(t *testing.T) {
	for want, status := range map[string]map[string]any{
		"Failed":  {"phase": "Failed"},
		"Evicted": {"phase": "Failed", "reason": "Evicted"},
	} {
		if got := readPod(map[string]any{"status": status}).reason; got != want {
			t.Errorf("%v is told as %q", status, got)
		}
	}
}

// A rule that counts and names no indexes has nothing to be checked by them.
func TestSuccessPoliciesWithoutIndexes(t *testing.T) {
	completions, count, indexes := int32(5), int32(3), "0-1"
	spec := &batchv1.JobSpec{Completions: &completions, SuccessPolicy: &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{
		{SucceededCount: &count}, {SucceededIndexes: &indexes, SucceededCount: &count},
	}}}
	errs := validateSuccessPolicy(spec, field.NewPath("rules"))
	if len(errs) != 1 || errs[0].Field != "rules[1].succeededCount" {
		t.Error(errs)
	}
}

// Indexes that failed are checked where they or those that are complete change, and
// where it is known how many there are.
func TestFailedIndexesAreChecked(t *testing.T) {
	five, per := int32(5), int32(1)
	state := func(failed, complete string, completions *int32) jobState {
		return jobState{&batchv1.Job{
			Spec:   batchv1.JobSpec{Completions: completions, BackoffLimitPerIndex: &per},
			Status: batchv1.JobStatus{FailedIndexes: &failed, CompletedIndexes: complete},
		}}
	}
	for name, c := range map[string]struct {
		now, was jobState
		want     string
	}{
		"apart":           {state("1", "2", &five), state("", "", &five), "[]"},
		"both":            {state("1,3", "2,3", &five), state("", "", &five), `overlap at index: 3`},
		"no list":         {state("x", "2", &five), state("", "", &five), `error parsing failedIndexes`},
		"both before":     {state("1,3", "2,3", &five), state("1,3", "2,3", &five), "[]"},
		"both of unknown": {state("1,3", "2,3", nil), state("", "", nil), "[]"},
	} {
		if got := fmt.Sprint(validateFailedIndexes(c.now, c.was, field.NewPath("f"))); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestConditionsOfAWebhookAreOnlySoMany(t *testing.T) {
	for n, want := range map[int]int{maxConditions: 0, maxConditions + 1: 1} {
		var all []admissionv1.MatchCondition
		for i := range n {
			all = append(all, admissionv1.MatchCondition{Name: fmt.Sprint("c", i), Expression: "true"})
		}
		errs := validateConditions(all, false, nil, field.NewPath("c"))
		if len(errs) != want || want > 0 && errs[0].Type != field.ErrorTypeTooMany {
			t.Errorf("%d conditions: %v", n, errs)
		}
	}
}

// The generation that was observed is kept where the new status says none.
func TestGenerationsThatWereObserved(t *testing.T) {
	state := func(of, condition any) map[string]any {
		c := map[string]any{"type": "Ready"}
		s := map[string]any{"conditions": []any{c}}
		if of != nil {
			s["observedGeneration"] = of
		}
		if condition != nil {
			c["observedGeneration"] = condition
		}
		return s
	}
	was := state(int64(3), int64(2))
	for _, test := range []struct{ now, want map[string]any }{
		{state(nil, nil), was}, {state(int64(0), int64(0)), was}, {state(int64(5), int64(4)), state(int64(5), int64(4))},
	} {
		if keepObserved(test.now, was); !reflect.DeepEqual(test.now, test.want) {
			t.Errorf("kept is %v, want %v", test.now, test.want)
		}
	}
	keepObserved(nil, was)
}

// An event of the newer group is checked as a whole when it is new, and after that
// changes in its series only.
func TestStrictEvents(t *testing.T) {
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "n", ResourceVersion: "7"}, EventTime: metav1.NowMicro(), Type: "Normal", Reason: "r", Action: "a",
		ReportingController: "example.com/c", ReportingInstance: "i", InvolvedObject: corev1.ObjectReference{Namespace: "n"},
	}
	if errs := validateStrictEvent("", e, nil); len(errs) > 0 {
		t.Error(errs)
	}
	odd := e.DeepCopy()
	odd.Type = "Odd"
	if errs := validateStrictEvent("", odd, nil); len(errs) != 1 || errs[0].Field != "type" {
		t.Errorf("an odd type: %v", errs)
	}
	if errs := validateStrictEvent("", odd, odd.DeepCopy()); len(errs) > 0 {
		t.Errorf("one that is there: %v", errs)
	}
	if errs := validateStrictEvent("", odd, e); len(errs) != 1 || errs[0].Field != "type" || errs[0].Detail != "field is immutable" {
		t.Errorf("another type: %v", errs)
	}
}

// What ended a container is told by the reason, else by the signal, else by the exit code.
func TestWhatEndedAContainer(t *testing.T) {
	for want, state := range map[string]corev1.ContainerStateTerminated{
		"Error":      {Reason: "Error", Signal: 9, ExitCode: 137},
		"Signal:9":   {Signal: 9, ExitCode: 137},
		"ExitCode:2": {ExitCode: 2},
		"ExitCode:0": {},
	} {
		if got := ended(&state); got != want {
			t.Errorf("%+v is told as %q, not %q", state, got, want)
		}
	}
}
