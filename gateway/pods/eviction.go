package pods

import (
	"context"
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

	"github.com/wasmgate/wasmgate/gateway/api"
	"github.com/wasmgate/wasmgate/gateway/resource"
)

// eviction deletes a pod unless a disruption budget forbids it.
type eviction struct {
	as    As
	admit Admit
}

// evictionVersions are those that an eviction may be of.
var evictionVersions = []schema.GroupVersion{policyv1.SchemeGroupVersion, policyv1beta1.SchemeGroupVersion}

// Verb implements api.Question.
func (eviction) Verb() string { return "create" }

// Answer implements api.Question.
func (e eviction) Answer(ctx context.Context, t resource.Target, contentType string, body []byte, o resource.WriteOptions) (*api.Response, error) {
	var wanted policyv1.Eviction
	if err := e.admit.sent(ctx, t, contentType, body, &wanted, "Eviction", evictionVersions, o); err != nil {
		return nil, err
	}
	if how := wanted.DeleteOptions; how != nil {
		if errs := validation.ValidateDeleteOptions(how); len(errs) > 0 {
			return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", errs)
		}
	}
	objects := e.as(o.Caller)
	p, _, err := pod(ctx, objects, t)
	if err != nil {
		return nil, err
	}
	how := metav1.DeleteOptions{}
	if wanted.DeleteOptions != nil {
		how = *wanted.DeleteOptions
	}
	dry := o.DryRun || len(how.DryRun) > 0
	if err := e.allow(ctx, p, dry); err != nil {
		return nil, err
	}
	if dry {
		how.DryRun = []string{metav1.DryRunAll}
	}
	if how.Preconditions == nil {
		how.Preconditions = &metav1.Preconditions{}
	}
	if how.Preconditions.UID == nil { // another pod of the name was not asked about
		how.Preconditions.UID = &p.UID
	}
	if p.Status.Phase == corev1.PodPending && how.Preconditions.ResourceVersion == nil { // one that runs by now was not asked about
		how.Preconditions.ResourceVersion = &p.ResourceVersion
	}
	if err := objects.Delete(ctx, kind, t.Namespace, t.Name, how); err != nil {
		return nil, err
	}
	return done()
}

// spendAttempts is how often a budget is read again that somebody else spent of
// meanwhile.
const spendAttempts = 20

// allow asks the pod's disruption budget, and spends of it. A pod that has ended,
// or has not begun, disturbs nobody.
func (e eviction) allow(ctx context.Context, p *corev1.Pod, dry bool) error {
	if p.Status.Phase == corev1.PodPending || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil {
		return nil
	}
	objects := e.as(self)
	var err error
	for range spendAttempts {
		var b *policyv1.PodDisruptionBudget
		if b, err = budget(ctx, objects, p); b == nil || err != nil {
			return err
		}
		if err = spend(ctx, objects, b, p, dry); !apierrors.IsConflict(err) {
			return err
		}
		if err := objects.Fresh(ctx); err != nil {
			return err
		}
	}
	return err
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

// spend takes one disruption from a budget, so that the next eviction finds one
// less before the budget's controller has counted again. A pod that is not ready
// costs nothing while enough others are, or if the budget says so.
func spend(ctx context.Context, objects Objects, b *policyv1.PodDisruptionBudget, p *corev1.Pod, dry bool) error {
	s := &b.Status
	if !ready(p) {
		always := b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
		if always || s.CurrentHealthy >= s.DesiredHealthy && s.DesiredHealthy > 0 {
			return nil
		}
	}
	switch {
	case s.ObservedGeneration < b.Generation:
		return refused(10, "The disruption budget %s is still being processed by the server.", b.Name)
	case s.DisruptionsAllowed <= 0:
		return refused(0, "The disruption budget %s needs %d healthy pods and has %d currently", b.Name, s.DesiredHealthy, s.CurrentHealthy)
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
