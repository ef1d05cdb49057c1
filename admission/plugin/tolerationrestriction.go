package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

// Where a namespace says what its pods tolerate, and what they may.
const (
	givenAnnotation   = "scheduler.alpha.kubernetes.io/defaultTolerations"
	allowedAnnotation = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
)

// PodTolerationRestriction gives pods the tolerations of their namespace, and refuses
// what their namespace does not allow. Namespaces that say nothing have those of the
// configuration.
type PodTolerationRestriction struct{ given, allowed []corev1.Toleration }

// NewPodTolerationRestriction reads a Configuration of
// podtolerationrestriction.admission.k8s.io/v1alpha1; of no text nothing is given, and
// everything is allowed.
func NewPodTolerationRestriction(configuration []byte) (PodTolerationRestriction, error) {
	var c struct {
		metav1.TypeMeta `json:",inline"`
		Default         []corev1.Toleration `json:"default,omitempty"`
		Whitelist       []corev1.Toleration `json:"whitelist,omitempty"`
	}
	err := readConfiguration(configuration, &c)
	if err == nil && configuration != nil {
		err = is(c.TypeMeta, "podtolerationrestriction.admission.k8s.io")
	}
	if errs := append(validTolerations("default", c.Default), validTolerations("whitelist", c.Whitelist)...); err == nil && len(errs) > 0 {
		err = fmt.Errorf("invalid config: %v", errs)
	}
	return PodTolerationRestriction{given: c.Default, allowed: c.Whitelist}, err
}

// Name implements [admission.Plugin].
func (PodTolerationRestriction) Name() string { return order.PodTolerationRestriction }

// Edits implements [admission.Editor].
func (PodTolerationRestriction) Edits(o admission.Operation, gr schema.GroupResource, subresource string) bool {
	return (o == admission.Create || o == admission.Update) && gr == pods && subresource == ""
}

// Edit implements [admission.Editor].
func (p PodTolerationRestriction) Edit(ctx context.Context, a admission.Attributes, tree map[string]any) (changed bool, err error) {
	had, err := tolerationsOf(tree)
	if err != nil {
		return false, err
	}
	var more []corev1.Toleration
	if a.GetOperation() == admission.Create {
		said, err := ofNamespace(ctx, a, givenAnnotation)
		if err != nil {
			return false, err
		}
		if more = said; said == nil {
			more = p.given
		}
	}
	asks, err := asksForResources(tree)
	if err != nil {
		return false, err
	}
	if asks {
		more = append(slices.Clip(more), corev1.Toleration{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	if n := len(had) + len(more); n > mostTolerations {
		return false, tooMany(n, tree)
	}
	all := had
	if len(more) > 0 {
		all = joined(had, more)
	}
	if changed = !slices.EqualFunc(all, had, same); changed {
		if err := setTolerations(tree, all); err != nil {
			return false, err
		}
	}
	return changed, p.check(ctx, a, tree, all)
}

// Validate implements [admission.Validator].
func (p PodTolerationRestriction) Validate(ctx context.Context, a admission.Attributes) error {
	if !p.Edits(a.GetOperation(), a.GetResource().GroupResource(), a.GetSubresource()) {
		return nil
	}
	tree := a.GetObject().Object
	has, err := tolerationsOf(tree)
	if err != nil {
		return err
	}
	return p.check(ctx, a, tree, has)
}

// check refuses what is not allowed, as kube-apiserver does: without a reason.
func (p PodTolerationRestriction) check(ctx context.Context, a admission.Attributes, tree map[string]any, has []corev1.Toleration) error {
	if len(has) == 0 {
		return nil
	}
	allowed, err := ofNamespace(ctx, a, allowedAnnotation)
	if err != nil {
		return err
	}
	whose := "namespace"
	if allowed == nil {
		allowed, whose = p.allowed, "cluster"
	}
	if len(allowed) == 0 {
		return nil
	}
	if n := max(len(has), len(allowed)); n > mostTolerations {
		return tooMany(n, tree)
	}
	for _, t := range has {
		if !slices.ContainsFunc(allowed, func(other corev1.Toleration) bool { return same(other, t) || includes(other, t) }) {
			return fmt.Errorf("pod tolerations (possibly merged with namespace default tolerations) conflict with its %s whitelist", whose)
		}
	}
	return nil
}

func tooMany(n int, tree map[string]any) error {
	return apierrors.NewForbidden(pods, nameIn(tree), fmt.Errorf("%d tolerations are compared, more than %d", n, mostTolerations))
}

// ofNamespace are the tolerations that an annotation of the namespace has: nil where it
// says nothing, and empty where it says that there are none.
func ofNamespace(ctx context.Context, a admission.Attributes, annotation string) ([]corev1.Toleration, error) {
	namespace, err := a.GetNamespaceObject(ctx, a.GetNamespace())
	if err != nil {
		return nil, err
	}
	text, has := namespace.Annotations[annotation]
	switch {
	case !has:
		return nil, nil
	case text == "":
		return []corev1.Toleration{}, nil
	}
	list := []corev1.Toleration{}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, errors.New(err.Error()) // in the words alone: an error of JSON is one of the body elsewhere
	}
	if list == nil { // null is a list without any
		list = []corev1.Toleration{}
	}
	return list, nil
}

// nameIn is the name of an object, "" while the server has not made it.
func nameIn(tree map[string]any) string { return object.TextAt(tree, "metadata", "name") }
