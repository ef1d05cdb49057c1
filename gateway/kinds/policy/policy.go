// Package policy owns the status of ValidatingAdmissionPolicies: which
// generation was looked at, and what is wrong with its expressions by the types
// of the objects that it is about. And that who writes a policy or a binding may read the
// parameters that it names.
//
// It must not know how expressions are checked, nor how policies are enforced: kind.go
// joins it to what does.
package policy

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wasmgate/wasmgate/gateway/controller"
	"github.com/wasmgate/wasmgate/gateway/controller/client"
	"github.com/wasmgate/wasmgate/gateway/kinds/gvr"
)

// Objects are what the controller reads and writes.
type Objects interface {
	client.Getter
	client.Updater
}

// CheckFunc finds what is wrong with the expressions of a policy, which it does
// not change.
type CheckFunc func(p *admissionv1.ValidatingAdmissionPolicy) ([]admissionv1.ExpressionWarning, error)

// Controller keeps the status. It runs in one gateway.
type Controller struct {
	objects Objects
	check   CheckFunc
}

// New returns the controller.
func New(objects Objects, check CheckFunc) *Controller { return &Controller{objects, check} }

// Name implements [controller.Controller].
func (c *Controller) Name() string { return "admission-policies" }

// Watches implements [controller.Controller].
func (c *Controller) Watches() []schema.GroupResource {
	return []schema.GroupResource{gvr.ValidatingPolicies}
}

// Reconcile implements [controller.Controller]. Types that change later change
// nothing, as in kube-apiserver's controller manager.
func (c *Controller) Reconcile(ctx context.Context, _ controller.Queue, key controller.Key) error {
	obj, err := c.objects.Get(ctx, gvr.ValidatingPolicies, "", key.Name)
	if err != nil {
		return gvr.IgnoreNotFound(err)
	}
	var p admissionv1.ValidatingAdmissionPolicy
	if err := gvr.Decode(obj, &p); err != nil {
		return err
	}
	if p.Status.TypeChecking != nil && p.Status.ObservedGeneration == p.Generation {
		return nil
	}
	warnings, err := c.check(&p)
	if err != nil {
		return err
	}
	next := p.Status
	next.ObservedGeneration, next.TypeChecking = p.Generation, &admissionv1.TypeChecking{ExpressionWarnings: warnings}
	if err := gvr.SetStatus(obj, &next); err != nil {
		return err
	}
	_, err = c.objects.Update(ctx, gvr.ValidatingPolicies, "status", obj)
	return gvr.IgnoreNotFound(err)
}
