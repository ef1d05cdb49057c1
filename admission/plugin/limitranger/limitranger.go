// Package limitranger owns the admission plugin LimitRanger: what containers get that
// ask for nothing, and what is too little or too much for pods and claims, in
// kube-apiserver's words.
//
// It must not know who stores or serves objects: the LimitRanges it is given.
package limitranger

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/admission"
	"github.com/wasmgate/wasmgate/admission/order"
	"github.com/wasmgate/wasmgate/crd/object"
)

var (
	pods   = schema.GroupResource{Resource: "pods"}
	claims = schema.GroupResource{Resource: "persistentvolumeclaims"}
)

// Source holds the LimitRanges that are in force.
type Source interface {
	// In returns those of a namespace, by name. They are shared and not to be changed.
	In(namespace string) ([]*corev1.LimitRange, error)
}

// Ranger is the plugin. It is asked before webhooks, which see what it sets, and once
// more after them.
type Ranger struct{ Ranges Source }

// Name implements [admission.Plugin].
func (Ranger) Name() string { return order.LimitRanger }

// Mutate implements [admission.Mutator]: containers get what they do not ask
// for.
func (r Ranger) Mutate(ctx context.Context, a admission.Attributes) error {
	all, err := r.about(ctx, a)
	if len(all) == 0 || err != nil || a.GetResource().GroupResource() != pods {
		return err
	}
	now, err := a.GetObjectAt(ctx, a.GetResource().Version)
	if err != nil {
		return err
	}
	if err := bounded(a, now, all); err != nil {
		return err
	}
	tree, changed := object.Clone(now), false
	for _, one := range all {
		changed = complete(tree, one) || changed
	}
	if !changed {
		return nil
	}
	return a.Replace(ctx, a.GetResource().Version, tree)
}

// Validate implements [admission.Validator].
func (r Ranger) Validate(ctx context.Context, a admission.Attributes) error {
	all, err := r.about(ctx, a)
	if len(all) == 0 || err != nil {
		return err
	}
	if err := bounded(a, a.GetObject().Object, all); err != nil {
		return err
	}
	check := checkOf(a)
	for _, one := range all {
		if why := check(one); why != nil {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), admission.NameOf(a), why)
		}
	}
	return nil
}

// bounded refuses a write about which there is too much to say.
func bounded(a admission.Attributes, tree map[string]any, all []*corev1.LimitRange) error {
	sum := 0
	for _, one := range all {
		if sum += work(tree, one); sum > most {
			return apierrors.NewForbidden(a.GetResource().GroupResource(), admission.NameOf(a), fmt.Errorf("the LimitRanges of the namespace name too many resources for so many containers: more than %d together", most))
		}
	}
	return nil
}

// checkOf is how a LimitRange is asked about what is written.
func checkOf(a admission.Attributes) func(*corev1.LimitRange) error {
	tree := a.GetObject().Object
	if a.GetResource().GroupResource() == pods {
		return checking(tree, checkPod)
	}
	return checking(tree, checkClaim)
}

func checking[T any](tree map[string]any, check func(*T, *corev1.LimitRange) error) func(*corev1.LimitRange) error {
	out := new(T)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree, out)
	return func(r *corev1.LimitRange) error {
		if err != nil {
			return err
		}
		return check(out, r)
	}
}

// about are the LimitRanges that have a say in a request: in new pods and new sizes
// of pods, and in claims that are not being deleted.
func (r Ranger) about(ctx context.Context, a admission.Attributes) ([]*corev1.LimitRange, error) {
	gr, operation, subresource := a.GetResource().GroupResource(), a.GetOperation(), a.GetSubresource()
	resized := gr == pods && operation == admission.Update && subresource == "resize"
	made := (gr == pods || gr == claims) && operation == admission.Create && subresource == ""
	claimed := gr == claims && operation == admission.Update && subresource == ""
	if !resized && !made && !claimed {
		return nil, nil
	}
	all, err := r.Ranges.In(a.GetNamespace())
	if claimed && (len(all) > 0 || err != nil) {
		if old, err := a.GetOldObject(ctx); err != nil || old.GetDeletionTimestamp() != nil {
			return nil, err
		}
	}
	return all, err
}
