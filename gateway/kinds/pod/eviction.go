package pod

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/resource"
)

// eviction deletes a pod unless a disruption budget forbids it.
type eviction struct {
	as    As
	judge Judge
}

// evictionVersions are those that an eviction may be of.
var evictionVersions = []schema.GroupVersion{policyv1.SchemeGroupVersion, policyv1beta1.SchemeGroupVersion}

// answer is an [Answer].
func (e eviction) answer(ctx context.Context, t resource.Target, contentType string, data []byte, o resource.WriteOptions) (any, error) {
	var wanted policyv1.Eviction
	sent := body{contentType: contentType, data: data, kind: "Eviction", versions: evictionVersions, validate: func() error { return nil }}
	if err := sent.read(ctx, e.judge, t, &wanted, o); err != nil {
		return nil, err
	}
	how := metav1.DeleteOptions{}
	if wanted.DeleteOptions != nil {
		how = *wanted.DeleteOptions
	}
	if errs := validation.ValidateDeleteOptions(&how); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
	}
	if o.DryRun {
		how.DryRun = []string{metav1.DryRunAll}
	}
	if err := e.evict(ctx, e.as(o.Caller), t, how); err != nil {
		return nil, err
	}
	return done, nil
}

// attempts is how often a pod, or its budget, is looked at again that somebody
// else changed meanwhile.
const attempts = 20

// errBegun tells that a pod runs by now, about which nobody was asked.
var errBegun = errors.New("the pod has begun to run")

// evict marks and deletes a pod if its budget allows that, for as long as what
// allowed it holds, whoever else writes the pod.
func (e eviction) evict(ctx context.Context, objects Objects, t resource.Target, how metav1.DeleteOptions) error {
	err := errBegun
	for n := 0; n < attempts && errors.Is(err, errBegun); n++ {
		p, problem := pod(ctx, objects, t)
		if problem != nil {
			return problem
		}
		if how.Preconditions == nil || how.Preconditions.UID == nil { // another pod of the name is not asked about
			how.Preconditions = how.Preconditions.DeepCopy()
			if how.Preconditions == nil {
				how.Preconditions = &metav1.Preconditions{}
			}
			how.Preconditions.UID = &p.UID
		}
		may, problem := e.allow(ctx, p, len(how.DryRun) > 0)
		if problem != nil {
			return problem
		}
		err = e.end(ctx, objects, t, how, may)
	}
	if errors.Is(err, errBegun) {
		return apierrors.NewConflict(kind, t.Name, err)
	}
	return err
}

// end writes into the pod why it goes, and deletes it.
func (e eviction) end(ctx context.Context, objects Objects, t resource.Target, how metav1.DeleteOptions, may func(*corev1.Pod) error) error {
	asked := func(u *unstructured.Unstructured) error {
		p, err := typed(u)
		if err != nil {
			return err
		}
		return may(p)
	}
	if len(how.DryRun) == 0 {
		meant := *how.Preconditions
		now, err := objects.Edit(ctx, kind, "status", t.Namespace, t.Name, resource.Edit{Change: func(u *unstructured.Unstructured) error {
			if err := resource.Mismatch(schema.GroupResource{Resource: "Pod"}, t.Name, &meant, u.GetUID(), u.GetResourceVersion()); err != nil {
				return err
			}
			if err := asked(u); err != nil {
				return err
			}
			return condition(u, corev1.PodCondition{Type: corev1.DisruptionTarget, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting"})
		}})
		if err != nil {
			return err
		}
		if meant.ResourceVersion != nil { // it is this write that made another
			revision := now.GetResourceVersion()
			how.Preconditions = &metav1.Preconditions{UID: meant.UID, ResourceVersion: &revision}
		}
	}
	return objects.Remove(ctx, kind, t.Namespace, t.Name, how, asked)
}

// allow asks the pod's disruption budget, and spends of it. A pod that has ended,
// or has not begun, disturbs nobody. What is returned tells whether what was
// decided holds of the pod as it is later.
func (e eviction) allow(ctx context.Context, p *corev1.Pod, dry bool) (may func(*corev1.Pod) error, err error) {
	if idle(p) {
		return func(now *corev1.Pod) error {
			if !idle(now) {
				return errBegun
			}
			return nil
		}, nil
	}
	objects := e.as(self)
	for range attempts {
		var b *policyv1.PodDisruptionBudget
		if b, err = budget(ctx, objects, p); err != nil {
			return nil, err
		}
		switch {
		case b == nil:
			return always, nil
		case !ready(p) && spares(b):
			return func(now *corev1.Pod) error {
				if ready(now) {
					return refused(10, "The disruption budget %s is still being processed by the server.", b.Name)
				}
				return nil
			}, nil
		}
		if err = spend(ctx, objects, b, p, dry); !apierrors.IsConflict(err) {
			return always, err
		}
		if err := objects.Fresh(ctx); err != nil {
			return nil, err
		}
	}
	return nil, err
}

func always(*corev1.Pod) error { return nil }

// idle tells that a pod does nothing that anybody would miss.
func idle(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodPending || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil
}

// budget is the disruption budget of a pod, nil if it has none.
func budget(ctx context.Context, objects Objects, p *corev1.Pod) (*policyv1.PodDisruptionBudget, error) {
	all, err := objects.List(ctx, budgets, p.Namespace)
	if err != nil {
		return nil, err
	}
	var found *policyv1.PodDisruptionBudget
	for _, u := range all {
		b := &policyv1.PodDisruptionBudget{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, b); err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || !selector.Matches(labels.Set(p.Labels)) { // one that is invalid selects nothing
			continue
		}
		if found != nil {
			//lint:ignore ST1005 as kube-apiserver says it
			return nil, apierrors.NewInternalError(fmt.Errorf("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."))
		}
		found = b
	}
	return found, nil
}

// maxDisrupted is how many evictions a budget remembers that its controller has
// not seen.
const maxDisrupted = 2000

// spares tells that a pod that is not ready costs a budget nothing: enough others
// are, or the budget says so.
func spares(b *policyv1.PodDisruptionBudget) bool {
	p, s := b.Spec.UnhealthyPodEvictionPolicy, &b.Status
	return p != nil && *p == policyv1.AlwaysAllow || s.CurrentHealthy >= s.DesiredHealthy && s.DesiredHealthy > 0
}

// whyNot is why a budget allows no disruption.
func whyNot(b *policyv1.PodDisruptionBudget) string {
	s, why := &b.Status, meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	if why != nil && (why.Status != metav1.ConditionFalse || why.Message == "") {
		why = nil
	}
	not := "The disruption budget " + b.Name + " does not allow evicting pods currently"
	switch {
	case why != nil && why.Reason == policyv1.SyncFailedReason: // whose numbers cannot be believed
		return not + " because it failed sync: " + why.Message
	case s.CurrentHealthy <= s.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, s.DesiredHealthy, s.CurrentHealthy)
	case why != nil:
		return fmt.Sprintf("%s (%s): %s", not, why.Reason, why.Message)
	}
	return not
}

// spend takes one disruption from a budget, so that the next eviction finds one
// less before the budget's controller has counted again.
func spend(ctx context.Context, objects Objects, b *policyv1.PodDisruptionBudget, p *corev1.Pod, dry bool) error {
	s := &b.Status
	switch {
	case s.ObservedGeneration < b.Generation:
		return refused(10, "The disruption budget %s is still being processed by the server.", b.Name)
	case s.DisruptionsAllowed <= 0:
		return refused(0, "%s", whyNot(b))
	case len(s.DisruptedPods) >= maxDisrupted:
		return apierrors.NewForbidden(budgets, b.Name, fmt.Errorf("DisruptedPods map too big - too many evictions not confirmed by PDB controller"))
	case dry:
		return nil
	}
	if s.DisruptionsAllowed--; s.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason, ObservedGeneration: s.ObservedGeneration,
		})
	}
	if s.DisruptedPods == nil {
		s.DisruptedPods = map[string]metav1.Time{}
	}
	s.DisruptedPods[p.Name] = metav1.Now()
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	_, err = objects.Update(ctx, budgets, "status", &unstructured.Unstructured{Object: tree})
	return err
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// refused is the reply to an eviction that has to wait.
func refused(retryAfter int, why string, args ...any) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfter)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: policyv1.DisruptionBudgetCause, Message: fmt.Sprintf(why, args...),
	})
	return err
}
