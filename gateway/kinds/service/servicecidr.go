package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/crd/object"
	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

var serviceCIDRs = schema.GroupResource{Group: networkingv1.GroupName, Resource: "servicecidrs"}

// Keeper makes objects and keeps them as they have to be.
type Keeper interface {
	client.Getter
	client.Lister
	client.Creator
	client.Updater
	client.Deleter
}

// Range keeps the ServiceCIDR in existence that says which addresses services have.
type Range struct {
	objects Keeper
	config  Config
}

// NewRange makes the controller.
func NewRange(objects Keeper, c Config) *Range { return &Range{objects, c} }

// Name implements [controller.Controller].
func (*Range) Name() string { return "kubernetes-service-cidr-controller" }

// Watches implements [controller.Controller].
func (*Range) Watches() []schema.GroupResource { return []schema.GroupResource{serviceCIDRs} }

// Seeds implements [controller.Seeded].
func (*Range) Seeds() []controller.Key {
	return []controller.Key{{GroupResource: serviceCIDRs, Name: kubernetes}}
}

// Resync implements [controller.Resyncing]: what went before it was followed makes no
// event.
func (*Range) Resync() time.Duration { return 10 * time.Second }

// Reconcile implements [controller.Controller].
func (r *Range) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	if key.Name != kubernetes {
		return nil
	}
	obj, err := r.objects.Get(ctx, serviceCIDRs, "", key.Name)
	cidrs := r.cidrs()
	if apierrors.IsNotFound(err) {
		obj, err = r.objects.Create(ctx, serviceCIDRs, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": networkingv1.SchemeGroupVersion.String(), "kind": "ServiceCIDR", "metadata": map[string]any{"name": key.Name},
			"spec": map[string]any{"cidrs": listOf(cidrs)},
		}})
		if apierrors.IsAlreadyExists(err) {
			return nil // and comes again
		}
	}
	if err != nil || obj.GetDeletionTimestamp() != nil {
		return err
	}
	spec := object.Child(obj.Object, "spec")
	switch has := texts(spec["cidrs"]); {
	case len(has) == 1 && len(cidrs) == 2 && has[0] == cidrs[0]: // the cluster has got another family
		spec["cidrs"] = listOf(cidrs)
		if obj, err = r.objects.Update(ctx, serviceCIDRs, "", obj); err != nil {
			return fmt.Errorf("the default ServiceCIDR: %w", err)
		}
	case !slices.Equal(has, cidrs):
		return nil // which an administrator has to see to
	}
	changed, err := gvr.ChangeConditions(obj, func(have []metav1.Condition) []metav1.Condition {
		c := meta.FindStatusCondition(have, networkingv1.ServiceCIDRConditionReady)
		if c == nil || c.Status == metav1.ConditionUnknown { // others may say that it is not ready
			meta.SetStatusCondition(&have, metav1.Condition{
				Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionTrue, Message: "Kubernetes default Service CIDR is ready",
			})
		}
		return have
	})
	if err != nil || !changed {
		return err
	}
	if _, err := r.objects.Update(ctx, serviceCIDRs, "status", obj); err != nil {
		return fmt.Errorf("the status of the default ServiceCIDR: %w", err)
	}
	return nil
}

// cidrs are the ranges of the cluster as texts.
func (r *Range) cidrs() (all []string) {
	for _, p := range r.config.Addresses {
		all = append(all, p.Masked().String())
	}
	return all
}
