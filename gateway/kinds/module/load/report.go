package load

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
	"github.com/wasmgate/wasmgate/gateway/kinds/module"
	"github.com/wasmgate/wasmgate/plugins"
)

// report writes the outcome into the object, unless this gateway did before.
func (c *Controller) report(ctx context.Context, obj *unstructured.Unstructured, m *loaded, wanted *plugins.Revision, problem *module.Refusal) error {
	status := c.serving(obj.GetName())
	newest, signers, judged := c.verdicts(ctx, obj, m, wanted, status.Digest())
	outcome := fmt.Sprintf("%d %+v %s %+v %v %v", obj.GetGeneration(), problem, m.unkept, newest, signers, judged)
	if status.Serving != nil {
		outcome += " " + module.Identity(*status.Serving)
	}
	if m.reported == outcome {
		return nil
	}
	old := module.StatusOf(obj)
	fields := serves(old, status, m.restored)
	fields.Pulled, fields.Revisions, fields.Accepted, fields.Proofs = old.Pulled, old.Revisions, old.Accepted, old.Proofs
	if serving := status.Serving; serving != nil {
		fields.Revisions = remember(old.Revisions, fields.Digest, fields.Size, metav1.NewTime(c.now().Truncate(time.Second)), module.HistoryLimit(obj))
		if problem == nil || fields.Accepted == "" {
			fields.Accepted = module.RevisionName(*serving)
		}
		if problem != nil || module.Promotes(obj) {
			fields.Kept = module.Keep(*serving)
		}
	} else if !m.restored {
		fields.Kept = old.KeptOf(obj)
	}
	fields.SignedBy = signers
	fields.Candidate = nextCandidate(obj, old.Candidate, problem, c.content.Digest)
	setConditions(&fields, obj.GetGeneration(), status.Serving != nil, problem, m.unkept)
	module.SetTrusted(&fields.Conditions, obj.GetGeneration(), newest.Policies, judged, newest.Refused, newest.Signers)
	if !slices.Equal(old.Conversions, fields.Conversions) {
		lacking, err := lacks(ctx, c.objects, obj.GetName(), fields.Conversions)
		if err != nil {
			return err
		}
		module.SetCompleteness(&fields.Conditions, obj.GetGeneration(), lacking)
	}
	if searching := status.Serving == nil && !m.restored; searching {
		fields.Calls = old.Calls
	} else {
		beginCalls(&fields, old.Calls, status.Serving != nil)
	}
	if !equality.Semantic.DeepEqual(old, fields) {
		if err := gvr.SetStatus(obj, &fields); err != nil {
			return err
		}
		if _, err := c.objects.Update(ctx, gvr.Modules, "status", obj); err != nil {
			return err
		}
	}
	m.reported = outcome
	return nil
}

// remember puts what serves at the head of the history, which keeps a number of
// contents.
func remember(history []module.ServedRevision, digest string, size int64, now metav1.Time, keep int64) []module.ServedRevision {
	if len(history) == 0 || history[0].Digest != digest {
		rest := slices.DeleteFunc(slices.Clone(history), func(r module.ServedRevision) bool { return r.Digest == digest })
		history = append([]module.ServedRevision{{Digest: digest, Size: size, Since: now}}, rest...)
	}
	return history[:min(int64(len(history)), max(keep, 1))]
}

// served tells that content served before.
func served(obj *unstructured.Unstructured, digest string) bool {
	return slices.ContainsFunc(module.StatusOf(obj).Revisions, func(r module.ServedRevision) bool { return r.Digest == digest })
}

// serves is a status that says what serves. A digest stays while nothing does
// and the search for the revision that served before has not ended.
func serves(old module.Status, now plugins.Status, restored bool) module.Status {
	s := module.Status{Conditions: append([]metav1.Condition(nil), old.Conditions...)}
	switch {
	case now.Serving != nil:
		s.Digest, s.Size, s.ABI, s.Conversions = now.Digest(), int64(now.Size), int64(now.ABI), now.Conversions
		s.Dialect = now.Dialect
		for _, h := range now.Hooks {
			s.Hooks = append(s.Hooks, string(h))
		}
	case !restored:
		s.Digest, s.Size, s.ABI, s.Hooks, s.Conversions = old.Digest, old.Size, old.ABI, old.Hooks, old.Conversions
		s.Dialect = old.Dialect
	}
	return s
}

// setConditions is where all are set. unkept says why content is not kept for the time
// when another one is refused.
func setConditions(s *module.Status, generation int64, serving bool, problem *module.Refusal, unkept string) {
	s.ObservedGeneration = generation
	compiled := metav1.Condition{Type: module.Compiled, Status: metav1.ConditionTrue, Reason: "Compiled"}
	ready := metav1.Condition{Type: module.Ready, Status: metav1.ConditionTrue, Reason: "Serving"}
	bad := metav1.ConditionFalse
	if problem != nil && problem.Expected {
		bad = metav1.ConditionUnknown
	}
	switch {
	case problem == nil:
		compiled.Message = fmt.Sprintf("%sABI %d, hooks: %s", s.Dialect.Before(), s.ABI, strings.Join(s.Hooks, ", "))
		ready.Message = s.Digest + " serves"
		if unkept != "" {
			ready.Message += ", and is not kept beside the object: " + unkept
		}
	case serving:
		compiled.Status, compiled.Reason, compiled.Message = bad, problem.Reason, problem.Message
		ready.Reason = "PreviousRevision"
		ready.Message = fmt.Sprintf("the newest revision does not serve (%s); %s keeps serving", problem.Reason, s.Digest)
	default:
		compiled.Status, compiled.Reason, compiled.Message = bad, problem.Reason, problem.Message
		ready.Status, ready.Reason, ready.Message = bad, problem.Reason, problem.Message
	}
	for _, condition := range []metav1.Condition{compiled, ready} {
		condition.Message, condition.ObservedGeneration = gvr.Shorten(condition.Message), generation
		meta.SetStatusCondition(&s.Conditions, condition)
	}
}

// beginCalls forgets how calls went when something else serves, or nothing.
func beginCalls(s *module.Status, old *module.Calls, serving bool) {
	if s.Calls = old; serving && old != nil && old.Revision == s.Accepted {
		return
	}
	s.Calls = nil
	unknown := metav1.Condition{Type: module.Healthy, Status: metav1.ConditionUnknown, Reason: module.NoCalls, Message: "nothing serves"}
	if serving {
		s.Calls, unknown.Message = &module.Calls{Revision: s.Accepted}, "no call was made yet since "+s.Digest+" serves"
	} else if meta.FindStatusCondition(s.Conditions, module.Healthy) == nil {
		return
	}
	unknown.ObservedGeneration = s.ObservedGeneration
	meta.SetStatusCondition(&s.Conditions, unknown)
}

// lacks is what definitions need of the named module and do not get.
func lacks(ctx context.Context, objects module.Lister, name string, has []plugins.Conversion) ([]module.Lack, error) {
	definitions, err := objects.List(ctx, gvr.Definitions, "")
	if err != nil {
		return nil, fmt.Errorf("list definitions: %w", err)
	}
	return module.Lacks(name, has, func(yield func(string, module.Need) bool) {
		for _, definition := range definitions {
			if !yield(definition.GetName(), module.NeedOf(definition)) {
				return
			}
		}
	}), nil
}
